import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.UUID;

class Calls {
  static final HttpClient client = HttpClient.newHttpClient();

  static HttpResponse<String> call(String method, String path, String body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(System.getenv("API") + path))
        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
        .header("Authorization", "Bearer " + System.getenv("API_KEY"))
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", UUID.randomUUID().toString())
        .build();
    for (int repetitions = 4; ; repetitions--) {
      var answer = client.send(request, BodyHandlers.ofString());
      boolean isTemporary = answer.statusCode() == 429 || answer.statusCode() == 503;
      if (!isTemporary || repetitions == 0) return answer;
      Thread.sleep(1_000 * answer.headers().firstValueAsLong("Retry-After").orElse(1));
    }
  }

  public static void main(String[] args) throws Exception {
    System.out.println(call("GET", "/v1/me", null).body());
    System.out.println(call("POST", "/v1/webhooks", "{\"url\":\"https://example.com/webhooks\",\"events\":[\"*\"]}").body());

    var refused = call("POST", "/v1/webhooks", "{\"url\":\"http://example.com/\",\"events\":[\"*\"]}");
    if (refused.statusCode() >= 400) System.out.println(refused.body());
  }
}
