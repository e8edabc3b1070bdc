// Doubao speech, below `/openspeech`.
import type { Vendor } from '../kernel/exchange.ts'
import { type SpeechOptions, speechCredentials } from './credentials.ts'
import { speechFailure } from './errors.ts'
import { speechRoutes } from './speech.ts'

export function openspeech(options: SpeechOptions): Vendor {
  return {
    name: 'openspeech',
    prefix: '/openspeech',
    requestIdHeader: 'X-Tt-Logid',
    scenarios: [],
    routes: speechRoutes(options),
    authenticate: speechCredentials(options),
    failure: speechFailure,
    malformed: (exchange, message) => speechFailure(exchange, { status: 400, message }),
    notFound: (exchange) => speechFailure(exchange, { status: 404, message: 'page not found' }),
  }
}
