// Renders a form: its fields in a column, its error, and the submit button.
import type { ReactNode } from 'react'
import { useBrowserFact } from '../../runtime/browser-fact.ts'
import { Banner } from '../Banner.tsx'
import { Button, type Tone } from '../Button.tsx'
import type { FormState } from './use-form.ts'

export function Form(props: {
  readonly form: FormState
  readonly submit: string
  readonly tone?: Tone
  readonly isWide?: boolean
  /** Beside the button. */
  readonly more?: ReactNode
  readonly children: ReactNode
}) {
  const { form, submit, tone = 'main', isWide = false, more, children } = props
  // Until scripts have taken over a rendered form, the browser would send it by itself, by default
  // with the password in the address: then it has no button that sends, and Enter does nothing. The
  // button looks as unable as it is; a click on one that looks ready would be lost.
  const isReady = useBrowserFact(() => true, false)
  return (
    <form noValidate method="post" onSubmit={form.onSubmit} className="grid gap-5">
      {children}
      {/* Always rendered: screen readers announce only what appears in an existing element. */}
      <div role="alert" className="empty:hidden">
        {form.error !== undefined && form.error !== '' && <Banner tone="bad">{form.error}</Banner>}
      </div>
      <div className="flex flex-wrap items-center gap-3">
        <Button
          type={isReady ? 'submit' : 'button'}
          tone={tone}
          disabled={!isReady}
          isPending={form.isPending}
          isWide={isWide}
        >
          {submit}
        </Button>
        {more}
      </div>
    </form>
  )
}
