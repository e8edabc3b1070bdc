/** GET /v1/responses: the Responses dialect over a WebSocket. */
import { GatewayError } from '../../../../base/lib/errors.ts'
import { admitUncharged } from '../../../../work/pipeline/hold/take-hold.ts'
import { enterMessage } from '../../../../work/pipeline/request/identify.ts'
import type { AccountEndpoint } from '../../endpoint.ts'
import type { OpenSocket } from '../../sockets.ts'
import { ResponseSession, type ResponseSessionOptions } from './response-session.ts'

export const responsesSocket: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/responses'],
  envelope: 'nested',
  documentation: {
    summary: 'Open a WebSocket for responses',
    description:
      'Each message `{"type": "response.create", …}` has the members of POST /v1/responses, ' +
      'and is held, charged and recorded as that call; its events are the messages that come ' +
      'back. One response runs at a time. `previous_response_id` may name the last response of ' +
      'the connection, at any model; `generate: false` sends input in advance, free of charge. ' +
      'Each message counts as a request. A refusal is an event `error` with its `status`; ' +
      'after too many of them, reading pauses for a second. Without an upgrade: 426. A ' +
      'connection whose messages are not read is closed.',
    tag: 'Text',
    errors: [426, 429, 503],
  },
  async handle(context, { accountId }, services) {
    const { request: handshake, path } = context
    // Identified each time: meanwhile the key may be revoked, or its limits changed.
    const enter: ResponseSessionOptions['enter'] = (message, work) =>
      enterMessage(context, services, message, (caller) => {
        return work(() => admitUncharged(context, caller, services))
      })
    const open: OpenSocket = (socket, connection) => {
      const parts = { socket, connection, handshake, path, accountId, enter, services }
      return new ResponseSession(parts)
    }
    const isOpen = services.sockets.accept(context, services.limits.chatBytesMax, open)
    if (!isOpen) throw new GatewayError('upgrade_required')
  },
}
