/** An operator's actions on an account affect its next call, and are in the audit log. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../../support/browser.ts'
import { until } from '../../support/until.ts'
import { arrive, close, goTo, leave, proveUntil } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const CALL = { Type: 'web', Query: 'rivers' }

describe('an operator', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage({ balance: '0' })
  })
  after(() => stage?.stop())

  const call = async () => {
    const answer = await stage.post('/v1/search', CALL)
    await answer.text()
    return answer.status
  }
  /** Gateways cache a key for a few seconds. */
  const untilCalled = (status: number) =>
    until(`a call that is answered ${status}`, async () => (await call()) === status || undefined)

  test('credits after a step-up, suspends and resumes, with immediate effect', async () => {
    assert.equal(await call(), 402)
    const watched = await stage.signedIn('/operator', { operator: true })
    const { page } = watched
    await arrive(page, 'Overview')
    await goTo(page, '/operator/accounts', 'Accounts')
    await page.getByRole('button', { name: 'test' }).click()
    const drawer = page.getByRole('dialog', { name: 'test' })
    await drawer.getByLabel(/^Amount/).fill('25')
    await drawer.getByLabel('Reason').fill('invoice 17')
    await stage.sql`update console_session set stepped_up_until = null`
    await drawer.getByRole('button', { name: 'Add credit' }).click()
    await page.getByRole('dialog', { name: 'Confirm your identity' }).waitFor()
    await proveUntil(page, drawer.getByText(/^invoice 17 · By/))
    assert.equal(await call(), 200)

    for (const [act, status] of [
      ['Suspend', 403],
      ['Resume', 200],
    ] as const) {
      await drawer.getByRole('button', { name: act }).click()
      const question = page.getByRole('dialog', { name: act, exact: true })
      if (act === 'Suspend') await question.getByLabel('Reason').fill('unpaid')
      await question.getByRole('button', { name: act }).click()
      await question.waitFor({ state: 'hidden' })
      await untilCalled(status)
    }

    await close(page)
    await goTo(page, '/operator/audit-log', 'Audit log')
    for (const act of [
      /posted .* to the account/,
      /suspended the account/,
      /resumed the account/,
    ]) {
      await page.getByRole('table').getByText(act).first().waitFor()
    }
    await leave(watched)
  })
})
