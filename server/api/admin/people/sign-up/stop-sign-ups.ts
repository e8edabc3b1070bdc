/** Stops sign-ups: their people are locked out and their accounts suspended. */
import type { Sql } from 'postgres'
import { setAccountStatus } from '../../../../money/accounts/manage-accounts.ts'
import { setDisabled } from '../../../sign-in/people/people.ts'
import { markStopped, selectStoppable } from '../../../sign-in/people/sign-up/sign-up-store.ts'

/** Stops one sign-up, or those of a network. Returns their ids: none if none could be stopped. */
export async function stopSignUps(
  sql: Sql,
  by: { readonly id: string } | { readonly network: string },
): Promise<string[]> {
  const rows = await selectStoppable(sql, by)
  // Each step may be repeated: what a crash leaves undone, the next request does.
  for (const { id, person_id: personId, account_id: accountId } of rows) {
    if (personId) await setDisabled(sql, personId, true)
    await setAccountStatus(sql, accountId, 'suspended')
    await markStopped(sql, id)
  }
  return rows.map(({ id }) => id)
}
