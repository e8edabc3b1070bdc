/**
 * Pictures of the console's pages, to look at and for the documentation: wide and light, wide and
 * dark, on a phone, and in Chinese (which needs a font that has it). `node scripts/screenshots.ts
 * OUTPUT [PATH…]` signs in to the demo that runs beside (`DATA_DIR/demo.json`); without paths it
 * takes every page of the navigation.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

interface Demo {
  readonly base_url: string
  readonly account_id: string
  readonly console: { readonly email: string; readonly password: string }
}

const LOOKS = [
  { name: 'light', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { name: 'phone', viewport: { width: 360, height: 740 }, colorScheme: 'light' },
  {
    name: 'zh',
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
    locale: 'zh-CN',
  },
] as const
/** Pages and details that are not in the navigation. */
const FURTHER = [
  '/playground?kind=compare',
  '/playground?kind=image',
  '/billing?view=transactions',
  '/models?id=sim-chat',
  '/operator/channels?add=choose',
  '/operator/channels?add=deepseek',
  '/operator/channels?id=sim-openai',
  '/operator/models?book=deepseek',
  '/operator/models?id=sim-chat',
]
const ENDING = process.env.PNG ? 'png' : 'jpg'
/** Small enough to keep, sharp enough to judge: the first that fits. */
const QUALITIES = [75, 65, 55, 45, 35] as const
const BYTES_MAX = 45_000
const SETTLE_MS = 700
/** True once every video has loaded its first frame, or has failed. */
const ALL_SEEN = `[...document.querySelectorAll('video')]
  .every(({ readyState, error }) => readyState >= 2 || error)`
const FILMS_MS = 5_000

const [output, ...wanted] = process.argv.slice(2)
if (!output) throw new Error('where should the pictures go?')
const file = join(process.env.DATA_DIR ?? 'data', 'demo.json')
const demo: Demo = JSON.parse(readFileSync(file, 'utf8'))
mkdirSync(output, { recursive: true })
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  for (const look of LOOKS) await takeAll(browser, look, output)
} finally {
  await browser.close()
}

async function takeAll(browser: Browser, look: (typeof LOOKS)[number], folder: string) {
  const context = await browser.newContext({ ...look, reducedMotion: 'reduce' })
  const { email, password } = demo.console
  if (wanted.length === 0) await takeSignIn(context, join(folder, `sign-in-${look.name}.${ENDING}`))
  await context.request.post(`${demo.base_url}/admin/v1/session`, {
    headers: { 'x-tributary-console': '1' },
    data: { email, password },
  })
  const page = await context.newPage()
  page.on('pageerror', (error) => console.error(`${page.url()}: ${error.message}`))
  for (const path of wanted.length > 0 ? wanted : await listPages(page)) {
    await take(page, path, join(folder, `${nameOf(path)}-${look.name}.${ENDING}`))
  }
  await context.close()
}

/** Lists the pages of both workspaces. */
async function listPages(page: Page): Promise<string[]> {
  const paths: string[] = []
  for (const first of ['/', '/operator']) {
    await page.goto(`${demo.base_url}/console${first}`)
    await page.locator(`nav a[href="/console${first}"]`).first().waitFor({ state: 'attached' })
    const links = await page.locator('nav a').all()
    const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')))
    paths.push(...hrefs.map((href) => (href ?? '').replace(/^\/console/, '') || '/'))
  }
  return [...paths, ...FURTHER]
}

/** Takes the sign-in page, before the session begins. */
async function takeSignIn(context: BrowserContext, to: string): Promise<void> {
  const page = await context.newPage()
  await page.goto(`${demo.base_url}/console/sign-in`, { waitUntil: 'load' })
  await page.locator('h1').first().waitFor()
  await page.waitForTimeout(SETTLE_MS)
  writeFileSync(to, await takeSmall(page))
  console.log(to)
  await page.close()
}

async function take(page: Page, path: string, to: string): Promise<void> {
  const address = new URL(`/console${path}`, demo.base_url)
  // For operators `account` is a filter.
  if (!path.startsWith('/operator')) address.searchParams.set('account', demo.account_id)
  await page.goto(address.href, { waitUntil: 'load' })
  await page.locator('h1').first().waitFor()
  await page.waitForFunction(ALL_SEEN, undefined, { timeout: FILMS_MS }).catch(() => undefined)
  await page.waitForTimeout(SETTLE_MS)
  writeFileSync(to, ENDING === 'png' ? await page.screenshot() : await takeSmall(page))
  console.log(to)
}

async function takeSmall(page: Page): Promise<Buffer> {
  let picture: Buffer = Buffer.alloc(0)
  for (const quality of QUALITIES) {
    picture = await page.screenshot({ type: 'jpeg', quality })
    if (picture.length <= BYTES_MAX) break
  }
  return picture
}

function nameOf(path: string): string {
  return path.replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '') || 'overview'
}
