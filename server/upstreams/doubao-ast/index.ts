/** Doubao AST 2.0, simultaneous interpretation over WebSocket (upstreams.md 4). */
import { defineUpstream } from '../upstream.ts'
import { interpretation } from './interpretation.ts'
import { settings } from './settings.ts'

export const doubaoAst = defineUpstream({
  name: 'doubao-ast',
  settings,
  secrets: ['api_key', 'access_key'],
  calls: { interpretation },
})
