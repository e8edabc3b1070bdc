/** The browser's part of adding a passkey. */
import { type AdminAnswer, callAdmin } from '../../lib/api.ts'

/** Throws the browser's error if the user cancels. */
export async function createPasskey() {
  const options: AdminAnswer<'POST /profile/passkeys/options'> = await callAdmin(
    'POST /profile/passkeys/options',
    {},
  )
  const credential = await navigator.credentials.create({
    publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
  })
  const { id, response } = credential instanceof PublicKeyCredential ? credential.toJSON() : {}
  if (!id || !response || !('attestationObject' in response) || !response.publicKey) {
    throw new Error('no passkey was made')
  }
  const { clientDataJSON, authenticatorData, publicKey, transports } = response
  return { id, response: { clientDataJSON, authenticatorData, publicKey, transports } }
}
