/** Any vendor that speaks OpenAI's API: OpenAI itself, ARK, DeepSeek, vLLM and many more. */
import { limitFieldOf } from '../../dialects/chat/quirks.ts'
import { completeByChat } from '../complete-by-chat.ts'
import { eachKey } from '../key-header.ts'
import { readPriceFacts, sharesStored } from '../shared-settings.ts'
import { defineUpstream } from '../upstream.ts'
import { chat } from './chat.ts'
import { imageEdit, imageVariation } from './image-edit.ts'
import { compatibleImageRules, judgeCompatibleImage } from './judge-image.ts'
import { sendCompatibleMessages } from './messages.ts'
import { PASSED } from './operations.ts'
import { searchesAlways } from './read-usage-options.ts'
import { askCompatible, listCompatibleModels } from './request.ts'
import { responses } from './responses.ts'
import { openaiCompatibleSettings } from './settings.ts'
import { background, stored } from './stored.ts'
import { transcription, translation } from './transcription.ts'

export const openaiCompatible = defineUpstream({
  name: 'openai-compatible',
  provider: 'openai',
  settings: openaiCompatibleSettings,
  secrets: ['api_key', 'api_keys', 'headers', 'query'],
  eachKey,
  concurrency: ({ max_concurrent_calls: calls }) => calls,
  priceFacts: readPriceFacts,
  sharesStored,
  stored,
  background,
  probe: listCompatibleModels,
  listModels: listCompatibleModels,
  askAt: askCompatible,
  calls: {
    ...PASSED,
    chat,
    completion: completeByChat(chat, ({ quirks }) => limitFieldOf(quirks)),
    interpretation: translation,
    'image-edit': imageEdit,
    'image-variation': imageVariation,
    messages: sendCompatibleMessages,
    responses,
    transcription,
  },
  images: compatibleImageRules,
  searchesAlways,
  judges: { image: judgeCompatibleImage },
  translates: (operation, { responses: mode }) =>
    operation === 'messages' || (operation === 'responses' && mode === 'translate'),
})
