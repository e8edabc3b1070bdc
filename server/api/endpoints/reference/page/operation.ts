/** One endpoint's section of the page: its request, response and errors. */
import { IDEMPOTENCY_KEY, type ReferenceOperation } from '../operation.ts'
import { MEANINGS } from '../statuses.ts'
import { codeBlock, curlCommand, highlightJson } from './code.ts'
import { fieldTable, listFields } from './fields.ts'
import { type Html, html, prose } from './html.ts'
import { javaScriptCode, pythonCode } from './snippets.ts'

export function renderOperation(operation: ReferenceOperation, publicUrl: string): Html {
  const { id, summary, description, example } = operation
  const answer = example?.answer
  return html`<section class="operation" id="${id}">
<div class="text">
<h3><a href="#${id}">${summary}</a></h3>
${renderRoute(operation)}
${description === undefined ? undefined : html`<p>${prose(description)}</p>`}
<p class="facts">${listFacts(operation).map((fact) => html`<span>${fact}</span> `)}</p>
${renderParameters(operation)}
${renderBody(operation)}
${renderAnswer(operation)}
${renderErrors(operation)}
</div>
<div class="examples">
${codeBlock('curl', curlCommand(operation, publicUrl), 'curl')}
${codeBlock('Python', pythonCode(operation, publicUrl), 'Python')}
${codeBlock('JavaScript', javaScriptCode(operation, publicUrl), 'JavaScript')}
${answer === undefined ? undefined : codeBlock('Answer', highlightJson(answer))}
</div>
</section>`
}

function renderRoute({ method, paths: [first, ...aliases] }: ReferenceOperation): Html {
  const also = html`<p class="aliases">The same at
${aliases.map((path) => html` <code>${path}</code>`)}</p>`
  return html`<p class="route"><span class="method ${method.toLowerCase()}">${method}</span>
<code>${first}</code></p>${aliases.length > 0 ? also : undefined}`
}

function listFacts(operation: ReferenceOperation): Html[] {
  const { isPaid, stream } = operation
  return [
    nameCredential(operation),
    ...(isPaid ? [PAID, REPEATABLE] : []),
    ...(stream ? [html`<a href="#streams">can stream</a>`] : []),
  ]
}

function nameCredential({ needsKey, needsSession, takesToken }: ReferenceOperation): Html {
  if (needsKey) return html`<a href="#keys">needs a key</a>`
  if (takesToken) return html`<a href="#tokens">needs an access token or a sign-in</a>`
  return needsSession ? html`needs a sign-in` : html`open to everybody`
}

const PAID = html`<a href="#money">is paid</a>`
const REPEATABLE = html`<a href="#repeating">takes an Idempotency-Key</a>`

const PLACES = { path: 'In the path', query: 'In the query', header: 'Headers' } as const

function renderParameters({ parameters }: ReferenceOperation): Html[] {
  const places = ['path', 'query', 'header'] as const
  return places.flatMap((place) => {
    const fields = parameters
      .filter((one) => one.in === place && one !== IDEMPOTENCY_KEY)
      .map(({ name, required, schema }) => ({ path: name, required, schema }))
    if (fields.length === 0) return []
    return [html`<h4>${PLACES[place]}</h4>${fieldTable(fields, place !== 'path')}`]
  })
}

function renderBody({ body, bodyType }: ReferenceOperation): Html | undefined {
  if (!body) return undefined
  const isOpen = bodyType === 'application/json' && body.additionalProperties !== false
  const open = 'Fields that are not listed here are passed to the upstream unchanged.'
  return html`<h4>Body <small>${bodyType}</small></h4>
${fieldTable(listFields(body), true)}
${isOpen ? html`<p class="note">${open}</p>` : undefined}`
}

function renderAnswer({ answer, answersNothing, stream }: ReferenceOperation): Html | undefined {
  if (answersNothing) return html`<h4>Answer <small>204 · no body</small></h4>`
  if (!answer) return undefined
  const { type, schema } = answer
  const fields = listFields(schema)
  return html`<h4>Answer <small>200 · ${type}</small></h4>
${schema.description === undefined ? undefined : html`<p>${prose(schema.description)}</p>`}
${fields.length > 0 ? fieldTable(fields, false) : undefined}
${
  stream &&
  html`<p class="note">Streamed as <code>${stream.type}</code>:
${prose(stream.description)}</p>`
}`
}

function renderErrors({ errors }: ReferenceOperation): Html | undefined {
  if (errors.length === 0) return undefined
  const rows = errors.map(
    (status) => html`<tr><td><a href="#error-${status}"><code>${status}</code></a></td>
<td>${MEANINGS[status]}</td></tr>`,
  )
  return html`<details class="errors">
<summary>Errors <span>${errors.map((status) => html`<code>${status}</code> `)}</span></summary>
<table class="statuses"><tbody>${rows}</tbody></table>
</details>`
}
