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
  'PATCH /profile': ({ session, body }, { signIn: { parts } }) =>
    changeProfile(parts, session, body),
  async 'POST /profile/password'({ session, body, context }, { signIn: { parts } }) {
    const passwords = { current: body.current_password, fresh: body.new_password }
    await changePassword(parts, session, passwords, context)
  },
  async 'GET /profile/sessions'({ session }, { signIn: { parts } }) {
    return { data: await listSessions(parts, session) }
  },
  'DELETE /profile/sessions': ({ session }, { signIn: { parts } }) =>
    endOtherSessions(parts, session),
  'DELETE /profile/sessions/:session_id': ({ session, params }, { signIn: { parts } }) =>
    endSession(parts, session, params.session_id),
  'POST /profile/totp': ({ session }, { signIn: { parts } }) => startTotp(parts, session),
  async 'POST /profile/totp/confirm'({ session, body, context }, { signIn: { parts } }) {
    return { recovery_codes: await confirmTotp(parts, session, body.code, context) }
  },
  'DELETE /profile/totp': ({ session, context }, { signIn: { parts } }) =>
    dropTotp(parts, session, context),
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
  'DELETE /profile/passkeys/:passkey_id': ({ session, params, context }, { signIn }) =>
    removePasskey(signIn.parts, session, params.passkey_id, context),
}
