# One call with net/http, plain or streaming as the body asks; prints what a program would see.
require 'json'
require 'net/http'

body = ENV.fetch('GATEWAY_BODY')
uri = URI("#{ENV.fetch('GATEWAY_URL')}/v1/messages")
is_stream = JSON.parse(body)['stream']
text = +''
last = nil
status = nil

request = Net::HTTP::Post.new(uri)
request['authorization'] = "Bearer #{ENV.fetch('GATEWAY_KEY')}"
request['content-type'] = 'application/json'
request.body = body

Net::HTTP.start(uri.host, uri.port, read_timeout: 20) do |http|
  http.request(request) do |reply|
    status = reply.code.to_i
    buffer = String.new(encoding: Encoding::BINARY)
    reply.read_body do |piece|
      buffer << piece
      while is_stream && (record = buffer.slice!(/\A.*?\n\n/mn))
        data = record.force_encoding('UTF-8')[/^data: (.*)$/, 1]
        next unless data

        event = JSON.parse(data)
        last = event['type']
        text << event['delta']['text'] if last == 'content_block_delta'
      end
    end
    unless is_stream
      message = JSON.parse(buffer.force_encoding('UTF-8'))
      message['content'].each { |block| text << block['text'] }
    end
  end
end

puts JSON.generate(status: status, text: text, last: last)
