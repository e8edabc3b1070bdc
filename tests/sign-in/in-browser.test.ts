import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser as Chromium, Page } from 'playwright-core'
import { launchBrowser, noBrowser } from '../support/browser.ts'
import { type ConsoleUnderTest, PASSWORD, startConsole } from './support.ts'

/** What the console does with a passkey, as text that runs in the page. */
const SCRIPT = `
  const send = async (method, path, body) => {
    const answer = await fetch('/admin/v1' + path, {
      method,
      headers: { 'x-tributary-console': '1', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, json: text ? JSON.parse(text) : undefined }
  }
  const create = async (name) => {
    const { json } = await send('POST', '/profile/passkeys/options')
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json)
    const credential = (await navigator.credentials.create({ publicKey })).toJSON()
    return send('POST', '/profile/passkeys', { name, credential })
  }
  const enter = async (path) => {
    const { json } = await send('POST', path + '/options', {})
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json)
    const credential = (await navigator.credentials.get({ publicKey })).toJSON()
    return send('POST', path, { credential })
  }
`

describe('signing in with a real browser', {
  skip: noBrowser,
}, () => {
  let console: ConsoleUnderTest
  let browser: Chromium
  let page: Page

  const run = (code: string) => page.evaluate(`(async () => { ${SCRIPT}; return ${code} })()`)

  before(async () => {
    console = await startConsole()
    browser = await launchBrowser()
    page = await browser.newPage()
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    })
    await page.goto(console.url.replace('127.0.0.1', 'localhost'))
  })
  after(async () => {
    await browser?.close()
    await console.stop()
  })

  test('a passkey is created, signs in alone, and steps up', async () => {
    const { email } = await console.person()
    const status = (outcome: unknown) => (outcome as { status: number }).status
    const credentials = JSON.stringify({ email, password: PASSWORD })
    assert.equal(status(await run(`send('POST', '/session', ${credentials})`)), 200)
    assert.equal(status(await run(`create('this laptop')`)), 200)
    assert.equal(status(await run(`send('DELETE', '/session')`)), 204)
    assert.equal(status(await run(`send('GET', '/session')`)), 401)
    const entered = await run(`enter('/session/passkey')`)
    assert.deepEqual(entered, { status: 200, json: { status: 'signed_in', methods: [] } })
    assert.equal(status(await run(`enter('/session/step-up/passkey')`)), 200)
    const me = (await run(`send('GET', '/session')`)) as { json: { user: { email: string } } }
    assert.equal(me.json.user.email, email)
    assert.equal(await page.evaluate('document.cookie'), '', 'no script sees the session')
  })

  test('a page of another origin can change nothing', async () => {
    const { email } = await console.person()
    const elsewhere = await browser.newPage()
    await elsewhere.goto(console.url)
    const target = console.url.replace('127.0.0.1', 'localhost')
    const outcome = await elsewhere.evaluate(`(async () => {
      const body = ${JSON.stringify(JSON.stringify({ email, password: PASSWORD }))}
      const options = { method: 'POST', body, credentials: 'include' }
      const plain = await fetch('${target}/admin/v1/session', { ...options, mode: 'no-cors' })
      const own = { 'x-tributary-console': '1', 'content-type': 'application/json' }
      const marked = await fetch('${target}/admin/v1/session', { ...options, headers: own })
        .then(() => 'sent', () => 'refused')
      return [plain.type, marked]
    })()`)
    assert.deepEqual(outcome, ['opaque', 'refused'])
    const [row] = await console.sql<{ rows: number }[]>`
      select count(*)::int as rows from console_session s join person p on p.id = s.person_id
      where p.email = ${email}`
    assert.equal(row?.rows, 0)
  })
})
