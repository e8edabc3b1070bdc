/** The browser's part of adding a passkey. */
import { startRegistration } from '@simplewebauthn/browser'
import { type AdminAnswer, callAdmin } from '../../lib/api.ts'

/** Throws the browser's error if the user cancels. */
export async function createPasskey() {
  const options: AdminAnswer<'POST /profile/passkeys/options'> = await callAdmin(
    'POST /profile/passkeys/options',
    {},
  )
  const { id, response } = await startRegistration({ optionsJSON: options })
  const { clientDataJSON, attestationObject, transports } = response
  return { id, response: { clientDataJSON, attestationObject, transports } }
}
