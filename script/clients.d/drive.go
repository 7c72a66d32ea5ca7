// Drives the Go client of openapi-generator.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"reflect"
	"time"

	api "promptarium"
)

func must[T any](value T, response *http.Response, err error) T {
	if err != nil {
		panic(fmt.Sprint(err, " ", response))
	}
	return value
}

func equal(found, expected any) {
	if !reflect.DeepEqual(found, expected) {
		panic(fmt.Sprintf("%v is not %v", found, expected))
	}
}

func as(token string) context.Context {
	return context.WithValue(context.Background(), api.ContextAccessToken, token)
}

// The typed error of a refused request.
func refused[T any](status int, response *http.Response, err error) T {
	var failure *api.GenericOpenAPIError
	if !errors.As(err, &failure) || response.StatusCode != status {
		panic(fmt.Sprint(err, " ", response))
	}
	return failure.Model().(T)
}

func main() {
	settings := api.NewConfiguration()
	settings.Servers = api.ServerConfigurations{{URL: os.Getenv("SERVER_URL")}}
	client, mine := api.NewAPIClient(settings), as(os.Getenv("API_KEY"))

	vault := func(name string, visibility api.Visibility) api.Vault {
		body := api.NewCreateVaultRequest(name)
		body.SetVisibility(visibility)
		return must(client.VaultsAPI.CreateVault(mine).CreateVaultRequest(*body).Execute()).Data
	}
	source, target := vault("Hafen Gang ⚓", api.PUBLIC), vault("Target", api.PRIVATE)
	equal(source.Name, "Hafen Gang ⚓")
	for number := 0; number < 5; number++ {
		body := api.NewCreatePromptRequest("p", fmt.Sprint("t", number))
		body.SetVaultId(source.Id)
		created := must(client.PromptsAPI.CreatePrompt(mine).CreatePromptRequest(*body).Execute())
		equal(created.Data.PromptType, api.TEXT)
	}

	pages, request := [][]string{}, client.PromptsAPI.ListPrompts(mine).Limit(2).VaultId(source.Id)
	for {
		page, titles := must(request.Execute()), []string{}
		for _, prompt := range page.Data {
			titles = append(titles, prompt.Title)
		}
		pages = append(pages, titles)
		cursor := page.Pagination.NextCursor.Get()
		if cursor == nil {
			break
		}
		request = request.Cursor(*cursor)
	}
	equal(pages, [][]string{{"t4", "t3"}, {"t2", "t1"}, {"t0"}})

	first := must(client.VaultContentsAPI.ListVaultPrompts(mine, source.Id).Execute()).Data[0]
	pinned := must(client.VaultContentsAPI.PinVaultPrompt(mine, source.Id, first.VaultPromptId).Execute())
	equal(pinned.Data.IsPinned, true)
	move := client.VaultContentsAPI.MoveVaultPrompt(mine, source.Id, first.VaultPromptId)
	moved := must(move.MoveVaultPromptRequest(*api.NewMoveVaultPromptRequest(target.Id)).Execute()).Data
	equal([]int64{moved.PromptId, moved.TargetVaultId}, []int64{first.Id, target.Id})
	equal(must(client.VaultsAPI.ForkVault(mine, source.Id).Execute()).Data.PromptCount, int32(4))

	_, response, err := client.VaultsAPI.ForkVault(mine, target.Id).Execute()
	_ = refused[api.ValidationErrorResponse](400, response, err).Error
	_, response, err = client.PromptsAPI.GetPrompt(as("wrong"), first.Id).Execute()
	_ = refused[api.ErrorResponse](401, response, err).Error
	_, response, err = client.PromptsAPI.GetPrompt(mine, 1<<62).Execute()
	_ = refused[api.ErrorResponse](404, response, err).Error

	file := must2(os.CreateTemp("", "image"))
	defer os.Remove(file.Name())
	must2(file.WriteString("twelve bytes"))
	must2(file.Seek(0, 0))
	wanted := api.NewCreateUploadSlotRequest(api.IMAGE_PNG, 12)
	slot := must(client.UploadsAPI.CreateUploadSlot(mine).CreateUploadSlotRequest(*wanted).Execute()).Data
	address := must2(url.Parse(slot.UploadUrl))
	name, signed := path.Base(address.Path), address.Query().Get("slot")
	response, err = client.UploadsAPI.PutUpload(as(slot.Token), name).Slot(signed).Body(file).Execute()
	must("", response, err)
	stored := must(client.AssetsAPI.GetAsset(context.Background(), name).Execute())
	equal(string(must2(os.ReadFile(stored.Name()))), "twelve bytes")

	body := api.NewCreateGenerationRequest("local/plasma", "sea")
	body.SetVaultId(target.Id)
	body.SetParameters(map[string]interface{}{"nested": map[string]interface{}{"a": []interface{}{nil}}})
	job := must(client.GenerationsAPI.CreateGeneration(mine).CreateGenerationRequest(*body).Execute()).Data
	for tries := 0; ; tries++ {
		status := must(client.GenerationsAPI.GenerationStatus(mine, job.ClientJobId).Execute()).Data
		if status.Status == api.COMPLETED {
			output := must(client.PromptsAPI.GetPrompt(mine, *status.PromptId.Get()).Execute())
			equal(len(output.Data.Images), 1)
			return
		}
		if status.Status == api.FAILED || tries > 600 {
			panic(status)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func must2[T any](value T, err error) T {
	return must(value, nil, err)
}
