/** Signing up over HTTP, and what operators see and stop of it. */
import { toPage } from '../../../../base/http/page.ts'
import { finishSignUp, requestSignUp, viewSignUp } from '../../../sign-in/people/sign-up/sign-up.ts'
import { selectSignUps } from '../../../sign-in/people/sign-up/sign-up-store.ts'
import type { HandlersOf } from '../../handler.ts'
import { noSuch } from '../../refusal.ts'
import type { signUpContract } from './contract.ts'
import { stopSignUps } from './stop-sign-ups.ts'

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
    const stopped = await stopSignUps(sql, body)
    if (stopped.length === 0) throw noSuch('sign-up that could be stopped')
    return { stopped: stopped.length }
  },
}
