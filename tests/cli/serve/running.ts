/** `tributary serve` as a child process, and what it tells of its demo. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { PROGRAM, programEnvironment } from '../../support/processes.ts'
import { until, untilEnded } from '../../support/until.ts'
import { runWith } from '../support.ts'

export interface Running {
  readonly child: ChildProcess
  readonly environment: NodeJS.ProcessEnv
  readonly ended: Promise<number | null>
  readonly said: () => string
}

/** `serve` on a folder of its own, or on that of an earlier one. */
export function start(t: TestContext, settings: NodeJS.ProcessEnv, ...words: string[]): Running {
  const folder = settings.HOME ?? mkdtempSync(join(tmpdir(), 'tributary-serve-'))
  const environment = {
    ...programEnvironment(),
    HOME: folder,
    DATA_DIR: join(folder, 'data'),
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
    ...settings,
  }
  const child = spawn(process.execPath, [PROGRAM, 'serve', ...words], { env: environment })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part) => {
      text += part
    })
  }
  const ended = untilEnded(child).then(({ code }) => code)
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    // The database outlives a killed gateway: a command adopts it and stops it.
    await runWith(environment, ['migrate'])
    rmSync(folder, { recursive: true, force: true })
  })
  return { child, environment, ended, said: () => text }
}

export async function readDemo({ environment, said }: Running) {
  const path = join(String(environment.DATA_DIR), 'demo.json')
  const read = () => {
    try {
      return JSON.parse(readFileSync(path, 'utf8'))
    } catch {
      return undefined
    }
  }
  return until('demo.json', read).catch((error) => assert.fail(`${error}: ${said()}`))
}
