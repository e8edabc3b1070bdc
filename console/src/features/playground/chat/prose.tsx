/** A model's answer as formatted text. */
import { Code } from '@mantine/core'
import { CodeSnippet } from '../../../components/text/code-snippet.tsx'
import { type ProseBlock, parseProse, parseSpans } from './parse-prose.ts'
import classes from './prose.module.css'

export function Prose({ text }: { readonly text: string }) {
  return (
    <div className={classes.prose}>
      {parseProse(text).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block is its place in the text
        <Part key={index} block={block} />
      ))}
    </div>
  )
}

function Part({ block }: { readonly block: ProseBlock }) {
  if (block.kind === 'code') return <CodeSnippet code={block.text} />
  if (block.kind === 'list') {
    const List = block.isOrdered ? 'ol' : 'ul'
    return (
      <List className={classes.list}>
        {block.items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an item is its place in the list
          <li key={index}>
            <Spans text={item} />
          </li>
        ))}
      </List>
    )
  }
  return (
    <p className={block.kind === 'heading' ? classes.heading : classes.text}>
      <Spans text={block.text} />
    </p>
  )
}

function Spans({ text }: { readonly text: string }) {
  return parseSpans(text).map(({ kind, text: part }, index) => {
    const key = `${index} ${part}`
    if (kind === 'code') return <Code key={key}>{part}</Code>
    return kind === 'strong' ? <strong key={key}>{part}</strong> : <span key={key}>{part}</span>
  })
}
