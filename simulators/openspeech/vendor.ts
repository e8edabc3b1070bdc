// Doubao speech, below `/openspeech`: synthesis here, interpretation in `interpretation/`,
// recordings in `minutes/`.
import type { Vendor } from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import { minutesRoutes } from '../minutes/minutes.ts'
import { recordingFailure } from '../minutes/outcome.ts'
import { recognitionRoutes } from '../minutes/recognition.ts'
import { type SpeechOptions, speechCredentials } from './credentials.ts'
import { speechFailure } from './errors.ts'
import { INTERPRETATION_SCENARIOS, interpretationSocket } from './interpretation/interpretation.ts'
import { speechRoutes } from './speech.ts'

const RECORDINGS = '/api/v3/auc/'

export function openspeech(options: SpeechOptions, platform: Platform): Vendor {
  return {
    name: 'openspeech',
    prefix: '/openspeech',
    requestIdHeader: 'X-Tt-Logid',
    scenarios: INTERPRETATION_SCENARIOS,
    routes: [...speechRoutes(options), ...minutesRoutes(platform), ...recognitionRoutes(platform)],
    sockets: [interpretationSocket(platform)],
    authenticate: speechCredentials(options),
    failure: (exchange, failure) =>
      exchange.path.startsWith(RECORDINGS)
        ? recordingFailure(exchange, failure)
        : speechFailure(exchange, failure),
    malformed: (exchange, message) => speechFailure(exchange, { status: 400, message }),
    notFound: (exchange) => speechFailure(exchange, { status: 404, message: 'page not found' }),
  }
}
