/** The browser logs and blocks nothing on any page of the navigation, in either language. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { until } from '../support/until.ts'
import {
  DARK,
  expectAccessible,
  expectFits,
  expectLoaded,
  goInside,
  openPage,
  PHONE,
  type WatchedPage,
} from './support/browser.ts'
import { listPages } from './support/list-pages.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

/** Pages and details that are not in the navigation. */
const FURTHER = {
  customer: ['/playground?kind=compare', '/playground?kind=image', '/usage?columns=time,rate'],
  operator: [
    '/operator/channels?add=choose',
    '/operator/channels?add=deepseek',
    '/operator/channels?add=volcengine-speech',
    '/operator/models?book=openai',
    '/operator/models?id=sim-chat',
  ],
} as const
const SIGNED_OUT = ['/sign-in', '/setup', '/invite', '/reset', '/usage']

/** Pages whose parts load on their own, with the route of a part and that of one below it. */
const IN_PARTS = [
  ['/usage', 'usage/summary', 'usage'],
  ['/', 'usage/summary', 'overview'],
  ['/', 'overview', 'usage/summary'],
  ['/', 'usage/:id', 'usage/summary'],
  ['/settings', 'profile/tokens', 'profile/sessions'],
  ['/assets', 'assets', 'files'],
  ['/operator/users', 'operator/users', 'operator/tokens'],
  ['/operator/proof', 'operator/proof', 'operator/proof/uncharged-costs'],
] as const
/** Larger than what a scroll bar or a longer name in a column causes. */
const SHIFT_MAX = 0.01

/** Runs in the page before its own scripts: what its policy blocks, and how far it moves. */
const WATCH = `window.refused = []
document.addEventListener('securitypolicyviolation', (event) => {
  window.refused.push(event.violatedDirective + ' ' + event.blockedURI)
})
window.moves = []
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    const parts = sources.map(({ node, previousRect, currentRect }) =>
      [node?.textContent.slice(0, 40), previousRect.y, currentRect.y].join(' '))
    if (value > ${SHIFT_MAX}) window.moves.push([value, ...parts])
  }
}).observe({ type: 'layout-shift', buffered: true })`

/** What has arrived is drawn after two frames. */
const FRAME = `new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`

describe('the browser', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
    const body = {
      model: 'doubao-seedance-2-5-260628',
      content: [{ type: 'text', text: 'a river' }],
    }
    await (await stage.post('/v1/videos/generations', body)).text()
    await (await stage.post('/v1/search', { Type: 'web', Query: 'rivers' })).text()
  })
  after(() => stage?.stop())

  const refusedBy = ({ page }: WatchedPage) => page.evaluate<string[]>('window.refused')

  // An operator has the pages of an owner as well: each page is seen once in each look.
  for (const [who, role, looks] of [
    ['an owner', {}, [[PHONE, '/']]],
    [
      'an operator',
      { operator: true },
      [
        [DARK, '/'],
        [PHONE, '/operator'],
      ],
    ],
  ] as const) {
    for (const [look, below] of looks) {
      test(`logs nothing on all pages of ${who}, ${JSON.stringify(look)}`, async () => {
        const watched = await stage.signedIn('/settings', role, look)
        const { page, context, complaints } = watched
        await page.addInitScript(WATCH)
        const paths = await listPages(page)
        assert.ok(paths.length >= 11)
        const { customer, operator } = FURTHER
        const further = 'operator' in role ? [...customer, ...operator] : customer
        // The others are reached from one before, of which each has another heading.
        const whole = new Set<string>(['/', '/operator', ...further])
        for (const path of [...paths, ...further].filter((one) => one.startsWith(below))) {
          const join = path.includes('?') ? '&' : '?'
          const href = `${stage.console}${path}${join}account=${stage.account.id}`
          await (whole.has(path) ? page.goto(href) : goInside(page, href))
          await expectLoaded(page, path)
          assert.deepEqual([path, complaints, await refusedBy(watched)], [path, [], []])
          await expectAccessible(page, { all: true })
          await expectFits(page)
        }
        await context.close()
      })
    }
  }

  test('shows no part of a page before those above it, so nothing moves', async () => {
    const { page, context } = await stage.signedIn('/settings', { operator: true, role: 'owner' })
    await page.addInitScript(WATCH)
    for (const [path, above, below] of IN_PARTS) {
      // The page before asks again at times: an answer to it would count for this one.
      await page.goto('about:blank')
      const isOf = (part: string) => (url: URL) =>
        url.pathname.startsWith('/admin/') &&
        url.pathname.replace(/req_.*/, ':id').endsWith(`/${part}`)
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route(isOf(above), async (route) => {
        await held
        await route.continue()
      })
      const answerOf = async (part: string) => {
        const answer = await page.waitForResponse((one) => isOf(part)(new URL(one.url())))
        await answer.finished()
        await page.evaluate(FRAME)
      }
      const early = answerOf(below)
      const late = answerOf(above)
      await page.goto(`${stage.console}${path}?account=${stage.account.id}`)
      await early
      release()
      await late
      await expectLoaded(page, path)
      await page.unrouteAll({ behavior: 'wait' })
      const moves = await page.evaluate<unknown[]>('window.moves')
      assert.deepEqual([path, above, moves], [path, above, []])
    }
    await context.close()
  })

  test('logs nothing on the pages of signed-out users, refusals included', async () => {
    const { page, context, complaints } = await openPage(stage.browser)
    page.on('response', (answer) => {
      if (answer.status() >= 400) complaints.push(`${answer.status()} ${answer.url()}`)
    })
    for (const path of SIGNED_OUT) {
      await page.goto(`${stage.console}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      assert.deepEqual([path, complaints], [path, []])
    }
    await context.close()
  })

  test('runs no script and no style from outside the console’s own files', async () => {
    const watched = await stage.signedIn('/settings')
    await watched.page.evaluate(WATCH)
    await watched.page.evaluate(`{
      const script = Object.assign(document.createElement('script'), { textContent: 'window.evil = 1' })
      const style = Object.assign(document.createElement('style'), { textContent: 'h1 { color: red }' })
      const far = Object.assign(document.createElement('script'), { src: 'https://evil.example/' })
      document.head.append(script, style, far)
      void fetch('https://evil.example/').catch(() => undefined)
    }`)
    const refused = await until('four refusals', async () => {
      const all = await refusedBy(watched)
      return all.length >= 4 ? all : undefined
    })
    assert.deepEqual(refused.map((one) => one.split(' ')[0]).sort(), [
      'connect-src',
      'script-src-elem',
      'script-src-elem',
      'style-src-elem',
    ])
    assert.equal(await watched.page.evaluate('window.evil'), undefined)
    await watched.context.close()
  })
})
