/** Signing in and out over HTTP. */

import type { SignInParts } from '../../../sign-in/parts.ts'
import {
  beginPasskeySignIn,
  beginPasskeyStepUp,
  finishPasskeySignIn,
  finishPasskeyStepUp,
} from '../../../sign-in/passkeys/passkeys.ts'
import {
  finishWithCode,
  SIGNED_IN,
  signInWithPassword,
  stepUpWithPassword,
} from '../../../sign-in/passwords/password-sign-in.ts'
import { isLocal, signInToDemo } from '../../../sign-in/people/demo.ts'
import {
  acceptInvitation,
  resetPassword,
  setUp,
  viewInvitation,
} from '../../../sign-in/people/links.ts'
import { describeFactors } from '../../../sign-in/people/profile.ts'
import type { Session } from '../../../sign-in/sessions/session.ts'
import { signOut } from '../../../sign-in/sessions/sessions.ts'
import type { HandlersOf } from '../../handler.ts'
import { showMemberships } from '../show-memberships.ts'
import type { signInContract } from './contract.ts'

async function describeSession(parts: SignInParts, session: Session) {
  const { user, memberships, steppedUpUntil, secondFactorMissing } = session
  return {
    session_id: session.sessionId,
    user,
    memberships: showMemberships(memberships),
    stepped_up_until: steppedUpUntil ?? null,
    second_factor: {
      ...(await describeFactors(parts, user.id)),
      missing: secondFactorMissing,
    },
    passkeys_possible: parts.consoleAddress.passkeyDomain() !== undefined,
  }
}

function describeSignUp({ signUp, mailLink }: SignInParts) {
  if (!signUp?.isOpen) return null
  const { domains, terms = null, grant } = signUp
  const { amountNanos, currency } = grant
  return { by_mail: mailLink !== undefined, domains, terms, grant: amountNanos, currency }
}

export const signInHandlers: HandlersOf<typeof signInContract> = {
  'GET /session': ({ session }, { signIn: { parts } }) => describeSession(parts, session),
  async 'GET /session/start'({ session, context }, { signIn: { parts } }) {
    const demo = parts.demo()
    const isDemoUser = session !== undefined && session.user.email === demo?.email
    return {
      demo: demo
        ? {
            sign_in: isLocal(context.request),
            account_id: demo.accountId,
            api_key: isDemoUser ? demo.apiKey : null,
          }
        : null,
      sign_up: describeSignUp(parts),
      session: session ? await describeSession(parts, session) : null,
    }
  },
  async 'POST /session/demo'({ context }, { signIn: { parts } }) {
    await signInToDemo(parts, context)
    return SIGNED_IN
  },
  'POST /session': ({ body, context }, { signIn: { parts } }) =>
    signInWithPassword(parts, body, context),
  'POST /session/second-factor': ({ body, context }, { signIn: { parts } }) =>
    finishWithCode(parts, body, context),
  'POST /session/passkey/options': ({ context }, { signIn: { parts } }) =>
    beginPasskeySignIn(parts, context),
  'POST /session/passkey': ({ body, context }, { signIn: { parts } }) =>
    finishPasskeySignIn(parts, body.credential, context),
  'DELETE /session': ({ session, context }, { signIn: { parts } }) =>
    signOut(parts, session, context),
  async 'POST /session/step-up'({ session, body, context }, { signIn: { parts } }) {
    return { stepped_up_until: await stepUpWithPassword(parts, session, body, context) }
  },
  'POST /session/step-up/passkey/options': ({ session }, { signIn: { parts } }) =>
    beginPasskeyStepUp(parts, session),
  async 'POST /session/step-up/passkey'({ session, body }, { signIn: { parts } }) {
    return { stepped_up_until: await finishPasskeyStepUp(parts, session, body.credential) }
  },
  'POST /session/set-up': ({ body, context }, { signIn: { parts } }) => setUp(parts, body, context),
  async 'POST /session/invitation/view'({ body, context }, { signIn: { parts } }) {
    const link = await viewInvitation(parts, body.token, context)
    return { ...link, email: link.email ?? '', operator: link.is_operator, known: link.isKnown }
  },
  'POST /session/invitation': ({ body, context }, { signIn: { parts } }) => {
    const { name, password, ...rest } = body
    const acceptance = { ...rest, ...(name ? { name } : {}), ...(password ? { password } : {}) }
    return acceptInvitation(parts, acceptance, context)
  },
  'POST /session/reset': ({ body, context }, { signIn: { parts } }) =>
    resetPassword(parts, body, context),
}
