/** Signing up over HTTP, and what operators see and stop of it. */
import { toPage } from '../../../../base/http/page.ts'
import { setAccountStatus } from '../../../../money/accounts/manage-accounts.ts'
import { setDisabled } from '../../../sign-in/people/people.ts'
import { finishSignUp, requestSignUp, viewSignUp } from '../../../sign-in/people/sign-up/sign-up.ts'
import {
  markStopped,
  selectSignUps,
  selectStoppable,
} from '../../../sign-in/people/sign-up/sign-up-store.ts'
import type { HandlersOf } from '../../handler.ts'
import { noSuch } from '../../refusal.ts'
import type { signUpContract } from './contract.ts'

export const signUpHandlers: HandlersOf<typeof signUpContract> = {
  'POST /session/sign-up': ({ body, context }, { signIn: { parts } }) =>
    requestSignUp(parts, body, context),
  async 'POST /session/sign-up/view'({ body, context }, { signIn: { parts } }) {
    const { isKnown: known, ...rest } = await viewSignUp(parts, body.token, context)
    return { ...rest, known }
  },
  'POST /session/sign-up/finish': ({ body, context }, { signIn: { parts } }) => {
    const { accept_terms: acceptsTerms, ...form } = body
    return finishSignUp(parts, { ...form, acceptsTerms }, context)
  },
  async 'GET /operator/sign-ups'({ query }, { sql }) {
    const rows = await selectSignUps(sql, { ...query, limit: query.limit + 1 })
    return toPage(rows, query.limit, 'id')
  },
  async 'POST /operator/sign-ups/stop'({ body, note }, { sql }) {
    note(body)
    const rows = await selectStoppable(sql, body)
    if (rows.length === 0) throw noSuch('sign-up that could be stopped')
    // Each step may be repeated: what a crash leaves undone, the next request does.
    for (const { id, person_id: personId, account_id: accountId } of rows) {
      if (personId) await setDisabled(sql, personId, true)
      await setAccountStatus(sql, accountId, 'suspended')
      await markStopped(sql, id)
    }
    return { stopped: rows.length }
  },
}
