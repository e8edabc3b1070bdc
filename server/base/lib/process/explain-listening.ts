/** Converts failures to listen on an address to one line that says what to do. */
import { member } from '../json.ts'
import { OperatorError } from '../operator-error.ts'

/** `names` are the variables that set the address. Returns other errors unchanged. */
export function explainListening(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
  names: { readonly host: string; readonly port: string },
): unknown {
  const why = explain(member(error, 'code'), { host, port }, names)
  return why === undefined ? error : new OperatorError(why, { cause: error })
}

function explain(
  code: unknown,
  { host, port }: { readonly host: string; readonly port: number },
  names: { readonly host: string; readonly port: string },
): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is taken: stop what listens there or set ${names.port}`
    case 'EACCES':
      return `port ${port} is reserved for the system: set ${names.port} to 1024 or more`
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
      return `${host} is not an address of this machine: set ${names.host} to one, or to 0.0.0.0`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${host} has no address: set ${names.host} to an address of this machine`
    default:
      return undefined
  }
}
