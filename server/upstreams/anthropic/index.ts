/** Vendors that speak the messages format natively (upstreams.md 10). */
import { defineUpstream } from '../upstream.ts'
import { chat } from './chat.ts'
import { messages } from './messages.ts'
import { anthropicSettings } from './settings.ts'

export const anthropic = defineUpstream({
  name: 'anthropic',
  settings: anthropicSettings,
  secrets: ['api_key'],
  calls: { messages, chat },
  translates: (operation) => operation !== 'messages',
})
