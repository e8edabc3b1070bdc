/** A newcomer's first hour in the demo: one button, a pasted call, its charge explained. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, openPage, PHONE } from '../support/browser.ts'
import { type DemoStage, startDemoStage } from '../support/demo.ts'

describe('the first hour', { skip: noBrowser }, () => {
  let stage: DemoStage
  let folder: string
  before(async () => {
    stage = await startDemoStage()
    folder = mkdtempSync(join(tmpdir(), 'tributary-first-hour-'))
  })
  after(async () => {
    rmSync(folder, { recursive: true, force: true })
    await stage?.stop()
  })

  test('adding a channel says beforehand that it ends the demo', async () => {
    const { page, context } = await openPage(stage.browser)
    await page.goto(`${stage.gateway.url}/console/`)
    await page.getByRole('button', { name: 'Enter the demo' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.goto(`${stage.gateway.url}/console/operator/channels?add=deepseek`)
    await page.getByText('The first channel ends the demo').waitFor()
    await context.close()
  })

  test('the terminal labels each thing, and its speech goes into a file', () => {
    const log = stage.gateway.log()
    const { email, password } = stage.demo.console
    for (const line of [`E-mail      ${email}`, `Password    ${password}`, '-o hello.mp3']) {
      assert.ok(log.includes(line), log)
    }
    assert.match(log, new RegExp(`API key +${stage.demo.api_key}`))
  })

  test('each snippet runs as it is pasted, and the call is explained at once', async () => {
    const { page, context, complaints, listening } = await openPage(stage.browser)
    await page.goto(`${stage.gateway.url}/console/`)
    await page.getByRole('button', { name: 'Enter the demo' }).click()
    const code = page.locator('pre')
    await code.getByText(stage.demo.api_key).waitFor()
    const snippets: string[] = [await code.innerText()]
    for (const language of ['Python', 'Node']) {
      await page
        .getByRole('radiogroup', { name: 'Language of the code' })
        .getByText(language)
        .click()
      await code
        .getByText(language === 'Python' ? 'urllib' : 'first-call.mjs')
        .first()
        .waitFor()
      snippets.push(await code.innerText())
    }
    const [curl = '', python = '', node = ''] = snippets
    await expectAccessible(page)
    await listening
    execFileSync('sh', ['-c', `${curl} -sf`])
    const title = page.getByRole('heading', { name: 'How your latest call was charged' })
    await title.waitFor()
    await page.getByText(/^Before sim-chat was called, ¥0\.00\d+ was put on hold/).waitFor()
    const table = page.getByRole('table', { name: 'How your latest call was charged' })
    await table.getByText('Total').waitFor()
    assert.equal(await page.getByText('First steps').count(), 0)
    writeFileSync(join(folder, 'first-call.mjs'), node)
    const answer = execFileSync(process.execPath, [join(folder, 'first-call.mjs')], {
      encoding: 'utf8',
    })
    assert.notEqual(answer.trim(), '')
    assert.notEqual(execFileSync('python3', ['-c', python], { encoding: 'utf8' }).trim(), '')
    await page.getByRole('button', { name: 'Hide' }).click()
    await title.waitFor({ state: 'hidden' })
    assert.deepEqual(complaints, [])
    await context.close()
  })

  test('the sign-in page fits a phone', async () => {
    const { page, context } = await openPage(stage.browser, PHONE)
    await page.goto(`${stage.gateway.url}/console/sign-in`)
    await page.getByRole('button', { name: 'Enter the demo' }).waitFor()
    await expectFits(page)
    await context.close()
  })

  test('with a channel of one’s own, a button removes the models of the demo', async () => {
    const { page, context, complaints } = await openPage(stage.browser)
    await page.goto(`${stage.gateway.url}/console/`)
    await page.getByRole('button', { name: 'Enter the demo' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.goto(`${stage.gateway.url}/console/operator/models`)
    await page.getByText('sim-chat', { exact: true }).first().waitFor()
    assert.equal(await page.getByText('of the demo are still there').count(), 0)
    const settings = { base_url: `${stage.demo.simulators.url}/openai/v1`, api_key: 'k' }
    const added = await page.request.put(`${stage.gateway.url}/admin/v1/operator/channels/own`, {
      headers: { 'x-tributary-console': '1' },
      data: { upstream: 'openai-compatible', settings },
    })
    assert.equal(added.status(), 200, await added.text())
    await page.reload()
    await page.getByText(/^\d+ channels and \d+ models of the demo are still there/).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Remove the demo’s models' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove the demo’s channels and models?' })
    await dialog.getByText(/sim-chat/).waitFor()
    await dialog.getByRole('button', { name: 'Remove the demo’s models' }).click()
    await page.getByText('of the demo are still there').waitFor({ state: 'hidden' })
    await page.getByText('sim-chat', { exact: true }).waitFor({ state: 'hidden' })
    await page.locator('nav a[href="/console/operator/channels"]').click()
    await page.getByText('own', { exact: true }).waitFor()
    assert.equal(await page.getByText('sim-openai').count(), 0)
    assert.deepEqual(complaints, [])
    await context.close()
  })
})

test('demo sign-in is refused without a demo, and from other machines', async () => {
  const stage = await startDemoStage()
  const post = (headers: Record<string, string>) =>
    fetch(`${stage.gateway.url}/admin/v1/session/demo`, {
      method: 'POST',
      headers: { 'x-tributary-console': '1', ...headers },
    })
  try {
    assert.equal((await post({})).status, 200)
    for (const [name, value] of [
      ['x-forwarded-for', '203.0.113.9'],
      ['forwarded', 'for=203.0.113.9'],
      ['origin', 'https://evil.example'],
    ] as const) {
      assert.equal((await post({ [name]: value })).status, 403, name)
    }
    assert.match(await postAsNginx(stage.gateway.url), /^HTTP\/1\.[01] 403 /)
  } finally {
    await stage.stop()
  }
})

/** Asks for the demo's session as nginx forwards without any setting. Returns the answer's text. */
async function postAsNginx(url: string): Promise<string> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.end(
    `POST /admin/v1/session/demo HTTP/1.0\r\nhost: ${host}\r\nconnection: close\r\n` +
      'x-tributary-console: 1\r\ncontent-length: 0\r\n\r\n',
  )
  return text(socket)
}
