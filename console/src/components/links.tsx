/** Mantine's buttons and anchors as links within the console. */
import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface Target {
  /** A page's path, below /console. */
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly children: ReactNode
}

export function ButtonLink({ to, search = {}, ...props }: ButtonProps & Target) {
  return <Button renderRoot={(root) => <Link to={to} search={search} {...root} />} {...props} />
}

export function TextLink({ to, search = {}, ...props }: AnchorProps & Target) {
  return <Anchor renderRoot={(root) => <Link to={to} search={search} {...root} />} {...props} />
}
