/** Steps that several journeys share, and the checks that every page on the way must pass. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import { expectAccessible, expectFits, type WatchedPage } from './browser.ts'
import { PASSWORD } from './stage.ts'
import { codeOf } from './totp.ts'

/** Waits for a page and checks its heading, its width and its accessibility. */
export async function arrive(page: Page, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
  const busy = page.locator('[aria-busy=true]')
  await until('lists that are loaded', async () => (await busy.count()) === 0 || undefined)
  await expectFits(page)
  await expectAccessible(page)
}

/** Opens a page through the navigation, which a phone has to open first. */
export async function goTo(page: Page, path: string, heading: string): Promise<void> {
  const menu = page.locator('header button[aria-label]').first()
  if ((page.viewportSize()?.width ?? 0) < 700) await menu.click()
  const link = page.locator(`nav a[href="/console${path}"]`)
  if ((await link.count()) === 0) {
    const workspace = path.startsWith('/operator') ? '/operator' : '/'
    await page.locator(`[role=group] a[href="/console${workspace}"]`).click()
    if ((page.viewportSize()?.width ?? 0) < 700) await menu.click()
  }
  await link.click()
  await arrive(page, heading)
}

/** Closes the details beside a list, or a dialog, in either language. */
export async function close(page: Page): Promise<void> {
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
}

/** Keys alone: opens the search, types once it listens, and takes what it found first. */
export async function searchFor(page: Page, text: string): Promise<void> {
  const search = page.getByPlaceholder('A page, or the id of')
  const listening = page.locator('input[aria-label="Go to…"]:focus')
  await search.waitFor({ state: 'hidden' })
  while ((await listening.count()) === 0) {
    await page.keyboard.press('Control+K')
    await listening.waitFor({ timeout: 1000 }).catch(() => {})
  }
  await page.keyboard.type(text)
  assert.equal(await listening.inputValue(), text)
  await page.locator('[data-action]').first().waitFor()
  await page.keyboard.press('Enter')
}

/** Waits for `done`, and steps up with the password if a dialog requires it. */
export async function proveUntil(page: Page, done: ReturnType<Page['locator']>): Promise<void> {
  const proof = page.getByRole('dialog', { name: 'Confirm your identity' })
  await done.or(proof).first().waitFor()
  if (!(await proof.isVisible())) return
  await proof.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await proof.getByRole('button', { name: 'Confirm' }).click()
  await done.first().waitFor()
}

/** Adds an authenticator app on the settings page. Returns its secret. */
export async function addApp(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Add an authenticator app' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add an authenticator app' })
  await dialog.getByRole('img', { name: 'QR code for authenticator apps' }).waitFor()
  const secret = await dialog.getByText(/^[A-Z2-7]{32}$/).innerText()
  await dialog.getByLabel('Code shown by the app').fill(codeOf(secret))
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('button', { name: 'I have saved them' }).click()
  await page.getByText('On', { exact: true }).waitFor()
  return secret
}

/** Checks that the browser logged nothing on the whole way, and closes it. */
export async function leave({ page, complaints }: WatchedPage): Promise<void> {
  assert.deepEqual(complaints, [])
  await page.context().close()
}
