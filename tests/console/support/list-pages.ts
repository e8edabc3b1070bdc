/** Lists the pages in the navigation of the signed-in person, as paths below /console. */
import type { Page } from 'playwright-core'

/** An operator's navigation has two workspaces. */
export async function listPages(page: Page): Promise<string[]> {
  const links = page.locator('nav a[href^="/console"]')
  await links.first().waitFor({ state: 'attached' })
  const readPaths = () =>
    links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
  const paths = await readPaths()
  const toOperator = page.locator('[role=group] a[href="/console/operator"]')
  if ((await toOperator.count()) > 0) {
    await page.goto(new URL('/console/operator', page.url()).href)
    await page.locator('nav a[href="/console/operator/accounts"]').waitFor({ state: 'attached' })
    paths.push(...(await readPaths()))
  }
  const unique = new Set(paths.map((path) => path.replace(/^\/console/, '') || '/'))
  return [...unique]
}
