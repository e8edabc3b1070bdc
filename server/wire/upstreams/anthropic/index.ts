/** Vendors that speak the messages format natively (docs/protocols/anthropic.md). */
import { completeByChat } from '../complete-by-chat.ts'
import { eachKey } from '../key-header.ts'
import { readPriceFacts, sharesStored } from '../shared-settings.ts'
import { defineUpstream } from '../upstream.ts'
import { chat } from './chat.ts'
import { sendNativeMessages } from './messages.ts'
import { listVendorModels } from './request.ts'
import { responses } from './responses.ts'
import { anthropicSettings } from './settings.ts'

export const anthropic = defineUpstream({
  name: 'anthropic',
  settings: anthropicSettings,
  secrets: ['api_key', 'api_keys'],
  eachKey,
  concurrency: ({ max_concurrent_calls: calls }) => calls,
  priceFacts: readPriceFacts,
  sharesStored,
  probe: (wire, settings) => listVendorModels(wire, settings, 1),
  listModels: (wire, settings) => listVendorModels(wire, settings, 1000),
  calls: {
    messages: sendNativeMessages,
    chat,
    completion: completeByChat(chat, () => 'max_tokens'),
    responses,
  },
  translates: (operation) => operation !== 'messages',
  translatesSearch: true,
})
