/** Loaded before tests: every client that they and the gateway open is a restricted one. */
import { registerHooks } from 'node:module'
import { restrict } from './restrict.ts'

const CLIENT = '/server/base/database/connection/client.ts'
const PLAIN = '?plain'

globalThis.restrictClient = restrict

registerHooks({
  load(url, context, next) {
    if (!url.endsWith(CLIENT)) return next(url, context)
    const source = `
      import * as plain from '${url}${PLAIN}'
      const { restrictClient } = globalThis
      export const connect = (...options) => restrictClient(plain.connect(...options))
      export const inBackground = (sql) => restrictClient(plain.inBackground(sql))`
    return { format: 'module', source, shortCircuit: true }
  },
})
