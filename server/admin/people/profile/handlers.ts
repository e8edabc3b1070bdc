/** People's own sign-in over HTTP. The audit log records what was changed, never its value. */

import { selectPasskeys } from '../../../sign-in/passkeys/passkey-store.ts'
import { addPasskey, beginPasskey, removePasskey } from '../../../sign-in/passkeys/passkeys.ts'
import { changePassword } from '../../../sign-in/passwords/password-sign-in.ts'
import {
  changeProfile,
  confirmTotp,
  dropTotp,
  endOtherSessions,
  endSession,
  listSessions,
  replaceCodes,
  startTotp,
} from '../../../sign-in/people/profile.ts'
import type { HandlersOf } from '../../handler.ts'
import type { profileContract } from './contract.ts'

export const profileHandlers: HandlersOf<typeof profileContract> = {
  async 'PATCH /profile'({ session, body }, { signIn: { parts } }) {
    await changeProfile(parts, session, body)
    return undefined
  },
  async 'POST /profile/password'({ session, body, context }, { signIn: { parts } }) {
    const passwords = { current: body.current_password, fresh: body.new_password }
    await changePassword(parts, session, passwords, context)
    return undefined
  },
  async 'GET /profile/sessions'({ session }, { signIn: { parts } }) {
    return { data: await listSessions(parts, session) }
  },
  async 'DELETE /profile/sessions'({ session }, { signIn: { parts } }) {
    await endOtherSessions(parts, session)
    return undefined
  },
  async 'DELETE /profile/sessions/:session_id'({ session, params }, { signIn: { parts } }) {
    await endSession(parts, session, params.session_id)
    return undefined
  },
  'POST /profile/totp': ({ session }, { signIn: { parts } }) => startTotp(parts, session),
  async 'POST /profile/totp/confirm'({ session, body, context }, { signIn: { parts } }) {
    return { recovery_codes: await confirmTotp(parts, session, body.code, context) }
  },
  async 'DELETE /profile/totp'({ session, context }, { signIn: { parts } }) {
    await dropTotp(parts, session, context)
    return undefined
  },
  async 'POST /profile/recovery-codes'({ session, context }, { signIn: { parts } }) {
    return { recovery_codes: await replaceCodes(parts, session, context) }
  },
  async 'GET /profile/passkeys'({ session }, { sql }) {
    return { data: await selectPasskeys(sql, session.user.id) }
  },
  'POST /profile/passkeys/options': ({ session }, { signIn: { parts } }) =>
    beginPasskey(parts, session),
  async 'POST /profile/passkeys'({ session, body, context, note }, { signIn: { parts } }) {
    const added = await addPasskey(parts, session, body, context)
    note({ passkey: added.id })
    return added
  },
  async 'DELETE /profile/passkeys/:passkey_id'({ session, params, context }, { signIn }) {
    await removePasskey(signIn.parts, session, params.passkey_id, context)
    return undefined
  },
}
