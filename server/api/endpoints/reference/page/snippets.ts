/** The example of an endpoint in Python and in JavaScript, equivalent to the one for curl. */
import type { ReferenceOperation } from '../operation.ts'
import { type Credential, credentialOf, extraHeaders } from './credential.ts'

interface ExampleRequest {
  readonly method: string
  /** `{account_id}` becomes a shell variable. */
  readonly url: string
  readonly credential: Credential | undefined
  readonly headers: readonly (readonly [string, string])[]
  readonly body: unknown
  readonly form: readonly (readonly [string, string])[]
  /** True for an answer that is neither JSON nor text. */
  readonly isFile: boolean
}

function requestOf(operation: ReferenceOperation, publicUrl: string): ExampleRequest {
  const { method, paths, example, answer } = operation
  const type = answer?.type ?? 'application/json'
  return {
    method,
    url: publicUrl + (example?.path ?? paths[0]),
    credential: credentialOf(operation, publicUrl),
    headers: extraHeaders(operation),
    body: example?.body,
    form: Object.entries(example?.form ?? {}),
    isFile: !/json|^text\//.test(type),
  }
}

export function pythonCode(operation: ReferenceOperation, publicUrl: string): string {
  const { method, url, credential, headers, body, form, isFile } = requestOf(operation, publicUrl)
  const key = credential
    ? [`"${credential.header}": f"${credential.prefix}{os.environ['${credential.variable}']}"`]
    : []
  const named = headers.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  const all = [...key, ...named]
  const files = form.filter(([, value]) => value.startsWith('@'))
  const fields = form.filter(([, value]) => !value.startsWith('@'))
  const open = ([name, value]: readonly [string, string]) =>
    `${JSON.stringify(name)}: open(${JSON.stringify(value.slice(1))}, "rb")`
  return [
    ...(credential || hasVariables(url) ? ['import os, requests'] : ['import requests']),
    '',
    'response = requests.request(',
    `    "${method}", ${toPythonUrl(url)},`,
    ...(all.length > 0 ? [`    headers={${all.join(', ')}},`] : []),
    ...(body === undefined ? [] : [`    json=${toPython(body, '    ')},`]),
    ...(files.length > 0 ? [`    files={${files.map(open).join(', ')}},`] : []),
    ...(fields.length > 0 ? [`    data=${toPython(Object.fromEntries(fields), '    ')},`] : []),
    ')',
    'response.raise_for_status()',
    isFile ? 'open("answer", "wb").write(response.content)' : 'print(response.text)',
  ].join('\n')
}

export function javaScriptCode(operation: ReferenceOperation, publicUrl: string): string {
  const { method, url, credential, headers, body, form, isFile } = requestOf(operation, publicUrl)
  const all = [
    ...(credential
      ? [
          `${credential.header.toLowerCase()}: ` +
            `\`${credential.prefix}\${process.env.${credential.variable}}\``,
        ]
      : []),
    ...headers.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
    ...(body === undefined ? [] : ["'content-type': 'application/json'"]),
  ]
  const append = ([name, value]: readonly [string, string]) =>
    value.startsWith('@')
      ? `form.append('${name}', await openAsBlob(${JSON.stringify(value.slice(1))}))`
      : `form.append('${name}', ${JSON.stringify(value)})`
  return [
    ...(form.some(([, value]) => value.startsWith('@'))
      ? ["import { openAsBlob } from 'node:fs'", '']
      : []),
    ...(isFile ? ["import { writeFile } from 'node:fs/promises'", ''] : []),
    ...(form.length > 0 ? ['const form = new FormData()', ...form.map(append)] : []),
    `const response = await fetch(${toJavaScriptUrl(url)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(all.length > 0 ? [`  headers: { ${all.join(', ')} },`] : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indent(body)}),`]),
    ...(form.length > 0 ? ['  body: form,'] : []),
    '})',
    'if (!response.ok) throw new Error(await response.text())',
    isFile
      ? "await writeFile('answer', Buffer.from(await response.arrayBuffer()))"
      : 'console.log(await response.text())',
  ].join('\n')
}

const VARIABLE = /\{(\w+)\}/g

function hasVariables(url: string): boolean {
  return url.search(VARIABLE) >= 0
}

function toPythonUrl(url: string): string {
  if (!hasVariables(url)) return JSON.stringify(url)
  return `f"${url.replace(VARIABLE, (_, name) => `{os.environ['${name.toUpperCase()}']}`)}"`
}

function toJavaScriptUrl(url: string): string {
  if (!hasVariables(url)) return JSON.stringify(url)
  return `\`${url.replace(VARIABLE, (_, name) => `\${process.env.${name.toUpperCase()}}`)}\``
}

function indent(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
}

/** Writes JSON as Python: `True`, `False` and `None`; strings are the same in both. */
function toPython(value: unknown, margin: string): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${margin}    `
  const parts = Array.isArray(value)
    ? value.map((one) => toPython(one, inner))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${toPython(one, inner)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return open + close
  return `${open}\n${inner}${parts.join(`,\n${inner}`)},\n${margin}${close}`
}
