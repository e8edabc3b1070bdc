/** Steps of every journey through the playground: fill in, send, read the charge. */
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

export function panel(page: Page, title: string): Locator {
  return page.locator('section').filter({ has: page.getByRole('heading', { name: title }) })
}

/** Waits until the price is worked out, and returns its sentence. */
export async function priceBefore(page: Page): Promise<string> {
  const price = page.locator('[aria-busy="false"]').getByText(/^Hold of up to /)
  await price.waitFor()
  return (await price.textContent()) ?? ''
}

export async function send(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send' }).click()
}

interface Cost {
  readonly held: string
  readonly charged: string
}

/** Waits until the call is settled: the hold and the charge, with a link that explains it. */
export async function costAfter(page: Page): Promise<Cost> {
  const cost = panel(page, 'Charge')
  const amount = (label: string) =>
    cost.locator('dl > div').filter({ hasText: label }).locator('dd')
  await amount('Charged').waitFor()
  const link = cost.getByRole('link', { name: 'Explain the charge' })
  assert.match((await link.getAttribute('href')) ?? '', /\/usage\?id=req_/)
  const textOf = async (label: string) => (await amount(label).textContent()) ?? ''
  return { held: await textOf('On hold'), charged: await textOf('Charged') }
}

/** The code of the request, in one of the languages. */
export async function codeOf(page: Page, language: 'curl' | 'Python' | 'Node'): Promise<string> {
  const code = panel(page, 'The same request as code')
  await code.getByText(language, { exact: true }).click()
  return (await code.locator('pre').textContent()) ?? ''
}
