/** Resolves packages of the scripts here in the client's own folder, outside the repository. */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const HERE = new URL('.', import.meta.url).href
const PARENT = pathToFileURL(join(process.env.CLIENT_FOLDER ?? '', 'package.json')).href

registerHooks({
  resolve(specifier, context, next) {
    const isBare = !/^(?:[./]|node:|file:)/.test(specifier)
    const isOurs = context.parentURL?.startsWith(HERE)
    return next(specifier, isBare && isOurs ? { ...context, parentURL: PARENT } : context)
  },
})
