import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'

const README = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8')

/** The curl commands as they are printed, continued lines included. */
const commands = [...README.matchAll(/^curl (?:.*\\\n)*.*$/gm)].map(([command]) => command)

describe('the README', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startTestGateway()
  })
  after(() => gateway.stop())

  test('has commands that work as printed, and leave their files where they run', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'tributary-readme-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const { key } = await gateway.tenant()
    assert.equal(commands.length, 4)
    for (const printed of commands) {
      const command = printed
        .replace('http://127.0.0.1:8080', gateway.url)
        .replace(/^curl /, `curl -s -w '%{http_code}' `)
      const { stdout } = await promisify(execFile)('sh', ['-c', command], {
        cwd: folder,
        env: { ...process.env, KEY: key },
      })
      assert.ok(stdout.endsWith('200'), `${printed}\n${stdout}`)
      if (printed.includes('/speech/')) assert.match(stdout, /"code":20000000\b/)
    }
    assert.deepEqual(readdirSync(folder), ['hello.mp3'])
  })

  test('names only commands of package.json', () => {
    const manifest: { scripts: Record<string, string> } = JSON.parse(
      readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
    )
    const named = [...README.matchAll(/^npm (?:run )?([\w:]+)/gm)].map(({ 1: name = '' }) => name)
    assert.deepEqual(named, ['start', 'test'])
    for (const name of named) assert.ok(manifest.scripts[name], name)
  })
})
