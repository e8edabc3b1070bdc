/** Webhooks in the browser: the secret shown and rotated, a delivery looked into and sent again. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { expectAccessible, expectFits, keepToasts, PHONE } from './support/browser.ts'
import { type ConsoleStage, PASSWORD, startConsoleStage } from './support/stage.ts'

describe('webhooks', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  let calls = 0
  const receiver = createServer((request, response) => {
    calls += 1
    request.resume().on('end', () => response.writeHead(204).end())
  })
  let port = 0
  before(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const address = receiver.address()
    port = typeof address === 'object' && address ? address.port : 0
    const env = { ALLOW_PRIVATE_TARGETS: 'true', TARGET_PORTS: String(port) }
    stage = await startConsoleStage({ env })
  })
  after(async () => {
    receiver.close()
    await stage?.stop()
  })

  test('a test is sent, inspected and sent again; the secret is rotated', async () => {
    const { page, complaints } = await stage.signedIn('/webhooks')
    await page.getByRole('button', { name: 'Send a test' }).click()
    const dialog = page.getByRole('dialog')
    const receiver = dialog.getByLabel('URL of your receiver')
    await receiver.and(page.locator(':focus')).waitFor()
    await page.keyboard.insertText(`http://127.0.0.1:${port}/hook`)
    await page.keyboard.press('Enter')
    await page.getByRole('table').getByText('Delivered').first().waitFor()
    await page.getByRole('table').getByRole('button').first().click()
    await page.getByText('accepted (204)').waitFor()
    await keepToasts(page)
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('A new delivery is being sent').waitFor()
    await until('the second call', () => calls === 2)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const shown = page.getByText(/^whsec_\w{20,}/)
    const proof = page.locator('input[type=password]')
    await Promise.race([shown.waitFor(), proof.waitFor()])
    if (await proof.isVisible()) {
      await proof.fill(PASSWORD)
      await page.keyboard.press('Enter')
      await shown.waitFor()
    }
    await page.getByText('The previous secret signs until').waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('accessible, and fits a phone', async () => {
    const { page } = await stage.signedIn('/webhooks', {}, PHONE)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectAccessible(page)
    await expectFits(page)
    await page.context().close()
  })
})
