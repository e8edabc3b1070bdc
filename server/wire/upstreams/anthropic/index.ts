/** Vendors that speak the messages format natively (docs/protocols/anthropic.md). */
import { eachKey } from '../key-header.ts'
import { readPriceFacts, sharesStored } from '../shared-settings.ts'
import { defineUpstream } from '../upstream.ts'
import { anthropicHost, listVendorModels } from './request.ts'
import { serveMessages } from './serve-messages.ts'
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
  ...serveMessages(anthropicHost),
})
