/** The sign-in page is there before its script, as it looks after it, and only for its readers. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { until } from '../../support/until.ts'
import { expectAccessible, type Look, openPage } from '../support/browser.ts'
import { type DemoStage, startDemoStage } from '../support/demo.ts'
import { leave } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const LOOKS: readonly Look[] = [
  {},
  { width: 390, height: 844, colorScheme: 'dark' },
  { colorScheme: 'dark', locale: 'zh-CN' },
]

/** Each piece of text that is seen, with its place and its color; inputs by their place alone. */
const SEEN = `(root) => {
  const seen = []
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) {
    const text = walk.currentNode.data.replace(/\\s+/g, ' ').trim()
    const range = document.createRange()
    range.selectNodeContents(walk.currentNode)
    const { x, y, width } = range.getBoundingClientRect()
    const { color, fontSize, fontWeight } = getComputedStyle(walk.currentNode.parentElement)
    if (text && width) seen.push([text, Math.round(x), Math.round(y), color, fontSize, fontWeight].join(' '))
  }
  return seen
}`

/** The page is read as it is painted: without its styles it is not. */
const HAS_STYLES =
  '[...document.querySelectorAll("link[rel=stylesheet]")].every((one) => one.sheet)'

const see = (page: Page, selector: string) =>
  page.evaluate<string[]>(`(${SEEN})(document.querySelector('${selector}'))`)

/** Compares texts, colours and places: the centre of an odd height may be rounded either way. */
function expectSame(early: readonly string[], late: readonly string[]): void {
  const PLACE = / (\d+) (?=rgb)/
  const places = (seen: readonly string[]) => seen.map((one) => Number(PLACE.exec(one)?.[1]))
  const rest = (seen: readonly string[]) => seen.map((one) => one.replace(PLACE, ' '))
  assert.deepEqual(rest(early), rest(late))
  const later = places(late)
  const moved = places(early).filter((y, index) => Math.abs(y - (later[index] ?? 0)) > 1)
  assert.deepEqual(moved, [], `${early.join('\n')}\n${late.join('\n')}`)
}

describe('the sign-in page before its script', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  let demo: DemoStage
  before(async () => {
    stage = await startConsoleStage()
    demo = await startDemoStage()
  })
  after(async () => {
    await demo?.stop()
    await stage?.stop()
  })

  for (const look of LOOKS) {
    test(`looks as it does afterwards, ${JSON.stringify(look)}`, async () => {
      const watched = await openPage(stage.browser, look)
      await expectSteady(watched.page, `${stage.console}/`)
      await leave(watched)
    })

    test(`of a demo looks so too, ${JSON.stringify(look)}`, async () => {
      const watched = await openPage(demo.browser, look)
      const seen = await expectSteady(watched.page, `${demo.gateway.url}/console/`)
      assert.ok(seen.some((one) => /^(?:Enter the demo|进入演示) /.test(one)))
      await leave(watched)
    })
  }

  /** Compares the page before its script with the one after it, and returns what is seen. */
  async function expectSteady(page: Page, address: string): Promise<string[]> {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/console/assets/*.js', async (route) => {
      await held
      await route.continue()
    })
    await page.goto(address, { waitUntil: 'commit' })
    await page.locator('#early-sign-in').waitFor()
    await until('its styles', () => page.evaluate<boolean>(HAS_STYLES))
    const early = await see(page, '#early-sign-in')
    assert.ok(early.length >= 8, early.join('\n'))
    release()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await until('the early page to go', async () =>
      (await page.locator('#early-sign-in').count()) === 0 ? true : undefined,
    )
    expectSame(early, await see(page, '#root'))
    await expectAccessible(page)
    return early
  }

  test('is not in the page of those who are signed in, nor in that of an invitation', async () => {
    const early = async (path: string, page: Page) =>
      (await (await page.request.get(`${stage.console}${path}`)).text()).includes('early-sign-in"')
    const signedIn = await stage.signedIn('/usage')
    assert.equal(await early('/usage', signedIn.page), false)
    assert.equal(await early('/sign-in', signedIn.page), true)
    await leave(signedIn)
    const nobody = await openPage(stage.browser)
    assert.equal(await early('/usage', nobody.page), true)
    assert.equal(await early('/invite', nobody.page), false)
    await leave(nobody)
  })
})
