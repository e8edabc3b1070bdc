/** Every page that the navigation shows to whoever is signed in, as paths below /console. */
import type { Page } from 'playwright-core'

export async function listPages(page: Page): Promise<string[]> {
  const links = page.locator('nav a[href^="/console"]')
  await links.first().waitFor({ state: 'attached' })
  const paths = await Promise.all((await links.all()).map((link) => link.getAttribute('href')))
  return paths.map((path) => (path ?? '').replace(/^\/console/, '').replace(/^\/$/, '') || '/')
}
