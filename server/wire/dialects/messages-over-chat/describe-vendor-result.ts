/** Describes as text what the vendor's own tools returned in earlier turns. */
import { asString, type JsonObject, member } from '../../../base/lib/json.ts'

/** Returns undefined for a block that is no such result. */
export function describeVendorResult(block: JsonObject): string | undefined {
  const { content } = block
  switch (block.type) {
    case 'web_search_tool_result':
      return describeSearch(content)
    case 'web_fetch_tool_result':
      return describePage(content)
    case 'mcp_tool_result':
      return `Tool result: ${joinTexts(content)}`
    case 'code_execution_tool_result':
    case 'bash_code_execution_tool_result':
    case 'text_editor_code_execution_tool_result':
      return describeExecution(content)
    default:
      return undefined
  }
}

function describeSearch(results: unknown): string {
  if (!Array.isArray(results)) return `The web search failed${describeCode(results)}.`
  const lines = results
    .map((result) => [asString(member(result, 'title')), asString(member(result, 'url'))])
    .map((parts) => parts.filter(Boolean).join(' '))
    .filter((line) => line !== '')
  if (lines.length === 0) return 'The web search found nothing.'
  return ['Web search results:', ...lines].join('\n')
}

function describeCode(error: unknown): string {
  const code = asString(member(error, 'error_code'))
  return code ? `: ${code}` : ''
}

function describePage(page: unknown): string {
  const url = asString(member(page, 'url'))
  if (url === undefined) return 'The page could not be fetched.'
  const source = member(member(page, 'content'), 'source')
  const text = member(source, 'type') === 'text' ? asString(member(source, 'data')) : undefined
  return `The page ${url}:\n${text ?? '[its content is not a text]'}`
}

function joinTexts(content: unknown): string {
  if (!Array.isArray(content)) return asString(content) ?? ''
  return content.map((part) => asString(member(part, 'text')) ?? '').join('\n')
}

function describeExecution(result: unknown): string {
  const outputs = ['stdout', 'stderr', 'content', 'error_code']
    .map((field) => asString(member(result, field)))
    .filter(Boolean)
  return ['Result of the execution:', ...outputs].join('\n')
}
