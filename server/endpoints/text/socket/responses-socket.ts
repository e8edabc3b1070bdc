/** GET /v1/responses: the Responses dialect over a WebSocket. */
import { GatewayError } from '../../../lib/errors.ts'
import type { AccountEndpoint } from '../../endpoint.ts'
import { ResponseSession } from './response-session.ts'

export const responsesSocket: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/responses'],
  envelope: 'nested',
  documentation: {
    summary: 'Open a WebSocket for responses',
    description:
      'Each message `{"type": "response.create", …}` has the members of POST /v1/responses, and ' +
      'is held, charged and recorded as that call; its events are the messages that come back. ' +
      'One response runs at a time. `previous_response_id` may name the last response of the ' +
      'connection, at any model; `generate: false` sends input ahead for free. A refusal is an ' +
      'event `error` with its `status`. Without an upgrade: 426.',
    tag: 'Text',
    errors: [426],
  },
  async handle(context, { accountId }, services) {
    const { request: handshake, path } = context
    const isOpen = services.sockets.accept(context, services.limits.chatBytesMax, (socket) => {
      return new ResponseSession({ socket, handshake, path, accountId, services })
    })
    if (!isOpen) throw new GatewayError('upgrade_required')
  },
}
