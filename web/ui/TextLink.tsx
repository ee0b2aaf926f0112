// Links inside sentences: underlined, because not everybody can distinguish the colour.
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'
import { classes } from './classes.ts'

type Props = AnchorHTMLAttributes<HTMLAnchorElement> & { readonly ref?: Ref<HTMLAnchorElement> }

/** For addresses outside the router: mailto links and files. */
export function TextAnchor({ className, children, ...rest }: Props) {
  return (
    <a
      {...rest}
      className={classes(
        'rounded-xs text-accent underline decoration-1 underline-offset-3 hover:decoration-2',
        className,
      )}
    >
      {children}
    </a>
  )
}

export const TextLink = createLink(TextAnchor)
