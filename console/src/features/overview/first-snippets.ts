/** A first paid call that runs as it stands: no package, and no variable that nothing set. */

export interface FirstCallOptions {
  readonly origin: string
  readonly key: string
  readonly model: string
}

const bodyOf = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hello' }] })

function printCurl({ origin, key, model }: FirstCallOptions): string {
  return [
    `curl ${origin}/v1/chat/completions \\`,
    `  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(bodyOf(model))}'`,
  ].join('\n')
}

function printPython({ origin, key, model }: FirstCallOptions): string {
  return [
    'import json, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    "${origin}/v1/chat/completions",`,
    `    headers={"Authorization": "Bearer ${key}", "Content-Type": "application/json"},`,
    `    data=json.dumps(${JSON.stringify(bodyOf(model))}).encode(),`,
    ')',
    'answer = json.load(urllib.request.urlopen(request))',
    'print(answer["choices"][0]["message"]["content"])',
  ].join('\n')
}

function printNode({ origin, key, model }: FirstCallOptions): string {
  return [
    '// node first-call.mjs',
    `const response = await fetch('${origin}/v1/chat/completions', {`,
    `  method: 'POST',`,
    `  headers: { authorization: 'Bearer ${key}', 'content-type': 'application/json' },`,
    `  body: JSON.stringify(${JSON.stringify(bodyOf(model))}),`,
    '})',
    'const answer = await response.json()',
    'console.log(answer.choices[0].message.content)',
  ].join('\n')
}

export const FIRST_CALL_PRINTERS = { curl: printCurl, Python: printPython, Node: printNode }
