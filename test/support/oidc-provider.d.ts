// The part of oidc-provider that test/stages/oidc.ts uses; the package has no types of its own.
declare module 'oidc-provider' {
  import type { IncomingMessage, Server, ServerResponse } from 'node:http'

  type Context = {
    readonly req: IncomingMessage
    readonly res: ServerResponse
    readonly path: string
    body: { id_token?: string } | undefined
    respond: boolean
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    listen(port: number, host: string): Server
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<{ readonly params: { readonly client_id: string } }>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>
    readonly Grant: new (p: {
      readonly accountId: string
      readonly clientId: string
    }) => { addOIDCScope(scope: string): void; save(): Promise<string> }
  }
}
