/**
 * @anthropic-ai/bedrock-sdk and vertex-sdk straight at the vendor, and the SDK that they are built
 * on at the gateway, which has to send the vendor the same.
 */
import Anthropic from '@anthropic-ai/sdk'
import { messagesScenes, question, streamedToolScenes } from './anthropic-scenes.mjs'
import { serveScenes } from './serve-scenes.mjs'

const CLOUDS = { bedrock: loadBedrock, vertex: loadVertex }
const connectStraight = await CLOUDS[process.env.CLOUD]()

function connect({ url, key, straight }) {
  if (straight) return connectStraight(url, straight)
  return new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 })
}

async function loadBedrock() {
  const { AnthropicBedrock } = await import('@anthropic-ai/bedrock-sdk')
  return (url, credentials) =>
    new AnthropicBedrock({ ...credentials, baseURL: `${url}/bedrock`, maxRetries: 0 })
}

async function loadVertex() {
  const { AnthropicVertex } = await import('@anthropic-ai/vertex-sdk')
  const { JWT } = await import('google-auth-library')
  return (url, { account, region }) => {
    const { client_email: email, private_key: key, private_key_id: keyId } = account
    const scopes = 'https://www.googleapis.com/auth/cloud-platform'
    const authClient = new JWT({ email, key, keyId, scopes })
    // The library knows one address of tokens alone.
    const send = authClient.transporter.request.bind(authClient.transporter)
    authClient.transporter.request = (options) => send({ ...options, url: account.token_uri })
    const place = { baseURL: `${url}/google/v1`, projectId: account.project_id, region }
    return new AnthropicVertex({ ...place, authClient, maxRetries: 0 })
  }
}

/** Returns what came before the end, and whether the library told its user of it. */
async function readUntilFailure(scene, onText) {
  const stream = connect(scene).messages.stream(question(scene))
  let text = ''
  stream.on('text', (piece) => {
    text += piece
    onText?.(stream)
  })
  const error = await stream.done().then(
    () => undefined,
    (reason) => reason,
  )
  return { text, error: error?.constructor.name }
}

serveScenes({
  ...messagesScenes(connect),
  ...streamedToolScenes(connect),
  'a stream that dies': (scene) => readUntilFailure(scene),
  'an abort': (scene) => readUntilFailure(scene, (stream) => stream.abort()),
})
