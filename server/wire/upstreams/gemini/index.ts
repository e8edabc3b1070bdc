/** Gemini in its own format, at Google's API or on Vertex AI (docs/protocols/google.md#gemini). */
import { completeByChat } from '../complete-by-chat.ts'
import { eachKey } from '../key-header.ts'
import { readPriceFacts } from '../shared-settings.ts'
import { defineUpstream } from '../upstream.ts'
import { passContents, passEmbedding } from './pass.ts'
import { listGeminiModels, listPublished } from './send.ts'
import { geminiChat, geminiMessages, geminiResponses } from './serve.ts'
import { geminiSettings, readGeminiUrl } from './settings.ts'

export const gemini = defineUpstream({
  name: 'gemini',
  provider: 'gcp.gemini',
  settings: geminiSettings,
  secrets: ['api_key', 'api_keys', 'service_account'],
  eachKey: (settings) => (settings.service_account ? [settings] : eachKey(settings)),
  concurrency: ({ max_concurrent_calls: calls }) => calls,
  priceFacts: readPriceFacts,
  address: readGeminiUrl,
  probe: (wire, settings) => listPublished(wire, settings, 1),
  listModels: listGeminiModels,
  calls: {
    chat: geminiChat,
    completion: completeByChat(geminiChat, () => 'max_tokens'),
    messages: geminiMessages,
    responses: geminiResponses,
    contents: passContents,
    'contents-embedding': passEmbedding,
  },
  translates: (operation) => !operation.startsWith('contents'),
  translatesSearch: true,
})
