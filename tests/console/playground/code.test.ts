/** The code that the playground shows is run as it stands, with a key of the account. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { makeWav } from '../../support/wav.ts'
import { type ConsoleStage, startConsoleProcess } from '../support/stage.ts'
import { codeOf, panel } from './support.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..', '..')
const CODE_MS = 180_000

interface Case {
  readonly kind: string
  /** What the code prints, or the kind of file that it leaves behind. */
  readonly prints: { readonly curl: RegExp; readonly node: RegExp }
}

const MP3 = /^file: ID3|^file: \xff[\xe2-\xff]/
const CASES: readonly Case[] = [
  { kind: 'chat', prints: { curl: /data: \[DONE\]/, node: /You asked/ } },
  { kind: 'speech', prints: { curl: /"code":20000000/, node: MP3 } },
  { kind: 'speech&model=sim-tts', prints: { curl: MP3, node: MP3 } },
  { kind: 'search', prints: { curl: /"ResponseMetadata"/, node: /ResponseMetadata/ } },
  { kind: 'image', prints: { curl: /"b64_json"/, node: /^file: \x89PNG/ } },
  { kind: 'video', prints: { curl: /"id":"task_/, node: /status: 'succeeded'/ } },
  { kind: 'embedding', prints: { curl: /"embedding":/, node: /^\d+\n$/ } },
  { kind: 'interpretation', prints: { curl: /"source_text":/, node: /source_text: '/ } },
  { kind: 'transcription', prints: { curl: /"text":/, node: /\w/ } },
]

describe('the code of the playground', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  let folder = ''
  /** One for all kinds: a new context would load and compile the console again. */
  let page: Page
  before(async () => {
    stage = await startConsoleProcess({ env: { TASK_POLL_INTERVAL_MIN_MS: '300' } })
    ;({ page } = await stage.signedIn('/'))
    folder = mkdtempSync(join(tmpdir(), 'playground-code-'))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'speech.wav'), makeWav(2_000))
  })
  after(async () => {
    await stage?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** What it printed, or else the one file that it wrote. */
  async function execute(command: string, parameters: readonly string[]): Promise<string> {
    const before = new Set(readdirSync(folder))
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const env = { PATH, NODE_COMPILE_CACHE, TRIBUTARY_KEY: stage.key.key }
    const options = { cwd: folder, env, timeout: CODE_MS, maxBuffer: 64 * 1024 * 1024 }
    const { stdout } = await run(command, [...parameters], options)
    const [written] = readdirSync(folder).filter((name) => !before.has(name))
    if (written === undefined) return stdout
    const content = readFileSync(join(folder, written), 'latin1')
    rmSync(join(folder, written))
    return `file: ${content.slice(0, 100)}`
  }

  for (const { kind, prints } of CASES) {
    test(`of ${kind} runs in a shell and in Node, and passes Python’s parser`, async () => {
      await page.goto(`${stage.console}/playground?kind=${kind}`)
      await page.locator('button[type=submit]').waitFor()
      if (kind === 'interpretation' || kind === 'transcription') {
        await page.locator('input[type=file]').setInputFiles(join(folder, 'speech.wav'))
        await panel(page, 'The same request as code').waitFor()
      }
      assert.match(await execute('bash', ['-c', await codeOf(page, 'curl')]), prints.curl)
      const node = join(folder, 'snippet.mjs')
      writeFileSync(node, await codeOf(page, 'Node'))
      assert.match(await execute(process.execPath, [node]), prints.node)
      rmSync(node)
      await run('python3', [
        '-c',
        'import ast, sys; ast.parse(sys.argv[1])',
        await codeOf(page, 'Python'),
      ])
    })
  }

  test('quotes, dollars and line ends of a prompt reach the model as they are', async () => {
    await page.goto(`${stage.console}/playground?model=sim-chat`)
    const odd = `It's "odd": $HOME \`id\` \\n 河流\nand a second line`
    await page.getByRole('textbox', { name: 'Message' }).fill(odd)
    const shown = `${await execute('bash', ['-c', await codeOf(page, 'curl')])}`
    const texts = [...shown.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(([, text = '""']) => {
      return JSON.parse(text) as string
    })
    assert.ok(texts.join('').includes(odd.split('\n')[0] ?? ''), texts.join(''))
  })
})
