/** The contents of the reference in the form of llms.txt: Markdown with a link to each call. */
import { pathOf, type ReferencePage } from './page/page.ts'

export function renderContentsFile(pages: readonly ReferencePage[], publicUrl: string): string {
  const groups = pages.filter(({ operations }) => operations.length > 0)
  const sections = groups.map((page) => {
    const lines = page.operations.map(
      ({ id, method, paths, summary }) =>
        `- [${method} ${paths[0]}](${publicUrl}${pathOf(page)}#${id}): ${summary}`,
    )
    return `## ${page.title}\n\n${lines.join('\n')}\n`
  })
  return `# Tributary

> A gateway to AI models: one address and one key for many vendors. The most a call can cost is put
> on hold before it is sent, and every charge is explained line by line.

All paths start with ${publicUrl}. Send a key as \`Authorization: Bearer tr-…\`; scripts send an
access token, \`tra-…\`, to the paths below /admin.

- [OpenAPI 3.1](${publicUrl}/openapi.json): every call with its schemas
- [Basics](${publicUrl}/docs): keys, costs, retries, streams, errors

${sections.join('\n')}`
}
