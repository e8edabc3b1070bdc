/** Describes a failure for an operator, without a stack trace. */
import { GATEWAY_CONNECTIONS } from '../../server/base/database/judge-server.ts'
import { DatabaseProblem } from '../../server/base/database/problem.ts'
import { GatewayError } from '../../server/base/lib/errors.ts'
import { OperatorError } from '../../server/base/lib/operator-error.ts'
import { oneLine } from '../../server/base/lib/text/one-line.ts'

export function describeCommandFailure(error: unknown): string {
  if (process.env.TRIBUTARY_DEBUG && error instanceof Error) return error.stack ?? error.message
  return messagesOfFailure(error)
    .split('\n')
    .map((line) => `tributary: ${oneLine(line)}`)
    .join('\n')
}

/** The same without the name of the program. */
export function messagesOfFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A rule that applies to callers too, such as a limit, whose text is written for them.
  if (error instanceof GatewayError && error.status < 500) return error.message
  if (error instanceof OperatorError || error instanceof DatabaseProblem) return error.message
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === '53300') {
    return (
      `${error.message}: raise its limit or max_connections; each gateway and each of its ` +
      `workers uses up to ${GATEWAY_CONNECTIONS}`
    )
  }
  if (code === '53100') return `${error.message}: free space on the disk of the database`
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return (
      `${error.message}: free space on the disk of DATA_DIR, or of the folder that the command ` +
      'writes to'
    )
  }
  if (code === 'ERR_MODULE_NOT_FOUND' && error.message.startsWith('Cannot find package')) {
    return (
      `${error.message}: the installation is not complete; \`npm start\` completes it, ` +
      'and so does `npm ci` in its folder'
    )
  }
  if (/^(ECONN|CONNECT|EPIPE|ENOTFOUND|57P)/.test(code)) {
    return `the database does not answer (${code}): is it running?`
  }
  return `${error.message} (TRIBUTARY_DEBUG=1 shows where)`
}
