/**
 * Doubao AST 2.0, simultaneous interpretation over WebSocket
 * (docs/protocols/volcengine-interpretation.md).
 */
import { SPEECH_SECRETS } from '../speech-credentials.ts'
import { defineUpstream } from '../upstream.ts'
import { interpretation } from './interpretation.ts'
import { settings } from './settings.ts'

export const doubaoAst = defineUpstream({
  name: 'doubao-ast',
  settings,
  secrets: SPEECH_SECRETS,
  calls: { interpretation },
})
