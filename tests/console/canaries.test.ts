/** No secret appears in any response, page, log or metric after the one time that it is shown. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { ADMIN_CONTRACT } from '../../server/api/admin/contract.ts'
import { noBrowser } from '../support/browser.ts'
import { findFreePort } from '../support/free-port.ts'
import type { GatewayProcess } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { expectLoaded, goInside } from './support/browser.ts'
import { type Canaries, type Planted, PROVIDER_KEY, plant } from './support/canaries.ts'
import { listPages } from './support/list-pages.ts'
import { type ConsoleStage, startConsoleProcess } from './support/stage.ts'

const READS = Object.keys(ADMIN_CONTRACT).filter((key) => key.startsWith('GET '))

interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** Opens the pages of the navigation whose paths start so. */
  readonly below: string
}

describe('no secret appears', { skip: noBrowser }, () => {
  let stage: ConsoleStage<GatewayProcess>
  let metricsPort: number
  let planted: Planted
  let people: readonly Visitor[]
  before(async () => {
    metricsPort = await findFreePort()
    stage = await startConsoleProcess({
      env: { LOG_LEVEL: 'trace', METRICS_PORT: String(metricsPort) },
      simulators: { openai: { keys: ['sim-openai-key', PROVIDER_KEY] } },
    })
    const owner = await stage.signedIn('/')
    const operator = await stage.signedIn('/operator', { operator: true })
    // An operator has the pages of an account as its owner has them, and both make all reads below.
    people = [
      { ...owner, below: '/' },
      { ...operator, below: '/operator' },
    ]
    planted = await plant(stage, owner.context.request, operator.context.request)
  })
  after(() => stage?.stop())

  const expectNone = (text: string, where: string, but: readonly string[] = []) => {
    for (const [what, canary] of planted.canaries) {
      if (!but.includes(canary)) assert.ok(!text.includes(canary), `${where} holds ${what}`)
    }
  }

  test('in the errors that callers got when a vendor failed', () => {
    assert.equal(planted.refusals.length, 20)
    for (const refusal of planted.refusals) {
      // A caller's own words may come back to them.
      const others = new Map<string, string>(planted.canaries)
      others.delete('a prompt')
      for (const [what, canary] of others) {
        assert.ok(!refusal.includes(canary), `${what}: ${refusal}`)
      }
    }
  })

  test('in any response to a read, headers included', async () => {
    const ids = { ...planted.ids, account_id: stage.account.id }
    let good = 0
    for (const { context } of people) {
      for (const key of READS.filter((one) => !one.endsWith('/events'))) {
        const path = key.slice(4).replace(/:(\w+)/g, (_, name) => pick(ids, name))
        const answer = await context.request.get(`${stage.url}/admin/v1${path}`)
        if (answer.ok()) good += 1
        expectNone(`${JSON.stringify(answer.headersArray())}\n${await answer.text()}`, key)
      }
    }
    assert.ok(good > READS.length, `only ${good} were answered`)
  })

  test('in any page, its files, its responses and its storage', async () => {
    for (const { context, page, below } of people) {
      const texts: Promise<readonly [string, string]>[] = []
      // Each page loads the same files again, whose names have a hash of their content.
      const files = new Set<string>()
      context.on('response', (response) => {
        const url = response.url()
        const head = JSON.stringify(response.headers())
        const isRead = url.endsWith('/events') || files.has(url)
        const body = isRead ? Promise.resolve('') : response.text().catch(() => '')
        if (url.startsWith(`${stage.console}/assets/`)) files.add(url)
        texts.push(body.then((text) => [url, head + text] as const))
      })
      const paths = await listPages(page)
      for (const path of paths.filter((one) => one.startsWith(below))) {
        const separator = path.includes('?') ? '&' : '?'
        const href = `${stage.console}${path}${separator}account=${stage.account.id}`
        await (path === below ? page.goto(href) : goInside(page, href))
        await expectLoaded(page, path)
        expectNone(await page.content(), path)
        expectNone(
          await page.evaluate<string>(
            'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])',
          ),
          `what ${path} stores`,
        )
      }
      assert.ok(texts.length > 40)
      for (const [url, text] of await Promise.all(texts)) expectNone(text, url)
    }
  })

  test('in the log and in the metrics', async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    assert.match(metrics, /canary-chat|tributary_/)
    expectNone(metrics, '/metrics')
    const log = await until('a log of calls', () => {
      const text = stage.gateway.log()
      return text.includes('canary-chat') ? text : undefined
    })
    expectNone(log, 'the log')
  })

  test('without notice: the check detects a value that is present', () => {
    const alike: Canaries = planted.canaries
    assert.ok(alike.size > 30)
    assert.throws(() => expectNone(`a ${PROVIDER_KEY} b`, 'here'), /here holds/)
  })
})

function pick(ids: Readonly<Record<string, string>>, name: string): string {
  return encodeURIComponent(ids[name] ?? 'none')
}
